/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "apps/c_srs/scene.h"
#include "bench/host.h"
#include "tools/command.h"

struct scene_input {
	struct scene scene;
	const char *path;
};

enum { KEY_WIDTH = 0x200, KEY_HEIGHT, KEY_FEATURE };

static void parse_feature(struct argp_state *state, const char *text, struct scene_input *in)
{
	uint64_t px = parse_number(state, "feature-px", text, 32, 4096);

	if (px & (px - 1))
		argp_error(state, "--feature-px: '%s' is not a power of two", text);
	in->scene.feature_px = (uint32_t)px;
}

static bool has_suffix(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcasecmp(dot, ".ppm") || !strcasecmp(dot, ".png"));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct scene_input *in = state->input;

	switch (key) {
	case KEY_WIDTH:
		in->scene.width = (uint32_t)parse_number(state, "width", arg, 1, 65536);
		break;
	case KEY_HEIGHT:
		in->scene.height = (uint32_t)parse_number(state, "height", arg, 1, 65536);
		break;
	case KEY_FEATURE:
		parse_feature(state, arg, in);
		break;
	case KEY_SEED:
		in->scene.seed = parse_number(state, "seed", arg, 0, UINT64_MAX);
		break;
	case ARGP_KEY_ARG:
		if (in->path)
			argp_error(state, "unexpected argument '%s'", arg);
		in->path = arg;
		break;
	case ARGP_KEY_END:
		if (!in->path)
			argp_error(state, "where to? a path that ends in .ppm or .png");
		if (!has_suffix(in->path))
			argp_error(state, "'%s' does not end in .ppm or .png", in->path);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "width", KEY_WIDTH, "PX", 0, "(default 4096)", 0 },
	{ "height", KEY_HEIGHT, "PX", 0, "(default 4096)", 0 },
	{ "feature-px", KEY_FEATURE, "PX", 0,
	  "size of its largest forms, a power of two from 32 to 4096 (default 512)", 0 },
	{ "seed", KEY_SEED, "N", 0, "(default 1)", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE",
	.doc = "Write a synthetic satellite scene as .ppm or .png, as input of "
	       "C_SRS.\v" COMMAND_EXIT_TEXT,
};

int command_gen_scene(int argc, char **argv)
{
	struct scene_input in = {
		.scene = { .seed = 1, .width = 4096, .height = 4096, .feature_px = 512 },
	};
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &in);
	rc = scene_write(&in.scene, in.path);
	if (!rc)
		return COMMAND_OK;
	bench_error("cannot write %s: %s", in.path, wic_last_error());
	return COMMAND_FAILED;
}
