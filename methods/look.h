/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Looking at one flag until it has an epoch: device half of every polling method.
 *
 * A method gives three macros before it includes this, all for one lane: M_LOOK(flag), a
 * look, made once a turn; M_LOOKED(flag), what must follow the look that saw the epoch;
 * M_BACK_OFF(looks), what it does between two looks.  Or M_POLL_LANE(m, tag, epoch), the whole
 * wait of one lane: 0 or -errno.
 */
#ifndef WIC_METHODS_LOOK_H
#define WIC_METHODS_LOOK_H

#include <wic/kernel.h>

#include "methods/method.h"
#include "methods/words.h"

/* The clock costs 20 to 50 ns, a look about as much: 64 looks hide it. */
#define M_LOOKS_PER_CLOCK 64

#ifndef M_POLL_LANE
#define M_POLL_LANE(m, tag, epoch) m_poll_lane(m, tag, epoch)

/* Look at one flag until it has the epoch.  0 or -ETIMEDOUT. */
WIC_DEVICE int m_poll_lane(const struct m_args *m, uint32_t tag, uint64_t epoch)
{
	uint64_t *flag = &m->flags[(uint64_t)tag * M_FLAG_WORDS];
	uint64_t start_ns = 0;
	uint32_t looks = 0;

	while (M_LOOK(flag) < epoch) {
		if (looks++ % M_LOOKS_PER_CLOCK == 0) {
			uint64_t now_ns = m_now_ns();

			if (!start_ns) {
				start_ns = now_ns;
				m_note(M_EVENT(LOOK), tag, epoch);
			}
			if (now_ns - start_ns >= m->timeout_ns)
				return -ETIMEDOUT;
		}
		m_look_turn();
		M_BACK_OFF(looks);
	}
	M_LOOKED(flag);
	return 0;
}
#endif /* M_POLL_LANE */

/* The same, of a warp: what lane 0 acquired is acquired for the others. */
WIC_DEVICE int m_poll(const struct m_args *m, uint32_t tag, uint64_t epoch)
{
	int rc = 0;

	if (m_lane_0())
		rc = M_POLL_LANE(m, tag, epoch);
	m_warp_sync();
	return m_warp_get(rc);
}

#endif /* WIC_METHODS_LOOK_H */
