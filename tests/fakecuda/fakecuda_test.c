// SPDX-License-Identifier: MIT OR GPL-2.0
int main(void)
{
	return 0;
}
