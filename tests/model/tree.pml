/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The interrupt tree, device half of push mode: blocks of warps wait for epochs of tags.
 * In each block one warp, the watcher, looks at device copies of the host's words; the
 * others are parked.  At most one watcher of all blocks reads a given line of host memory.
 * Memory is sequentially consistent here, so this says nothing about orders and scopes.
 *
 * What must hold:
 *	no early wake-up   a wait that ends without an error has its epoch, and its payload
 *	no lost wake-up    when nothing can move, nobody waits for what was published
 *	one watcher        a block never has two, and has one when nothing can move and
 *	                   somebody waits
 *	one arrive a park  none too many, and none outstanding when a wait returns
 *	nothing is kept    no token, role or line is carried out of a wait
 *	cancel, deadlines  each wait that they concern ends
 *	no livelock        idle turns block until they would have an effect, so any
 *	                   cycle of states is a livelock
 *
 * Whatever comes from outside (published, cancelled, a deadline that passes) happens at any
 * time or never: `calm` ends it at any point, in the middle of publishing too.  That is
 * the host that stops.
 *
 * Size and options, by -D:
 *	BLOCKS WARPS	shape
 *	STARTED		warps that there are, where the last block has fewer
 *	WAITS EPOCHS	waits a warp makes, one after the other; epochs published a tag
 *	LINES		1: both tags lie in one line; 2: each in its own
 *	TAGS_BY		which tag a warp wants: WARP, BLOCK, ROUND (changes with
 *			each wait) or NONE (all want tag 0)
 *	DEADLINES	1: each wait may time out; 2: each does in the end, which hides lost
 *			wake-ups but shows a wait that does not look at its deadline
 *	CANCEL		the host may cancel
 *	PEER		tag 1 is raised in device memory by a peer: no truth word, no
 *			line, no owner.  A warp of this GPU that publishes, and a word
 *			of wait_word, look the same here.
 *	PAYLOAD		publishing takes two steps, payload and word
 *	FINE		each access to memory is a step of its own
 *	POLL		idle turns do not block; with the claim at the end, and weak
 *			fairness
 *	BROKEN		the rule that is taken out: a name of the list below
 */

/* Numbers of rules are those of the token rules. */
#define NOTHING			0
#define ARRIVE_FOR_ALL		1	/* 1: arrives for bits that another had cleared */
#define ARRIVE_AT_ITSELF	2	/* 1: the satisfied watcher sends itself an arrive */
#define STRAY_ARRIVE		3	/* 1: a waiter that times out sends itself one */
#define PARK_NOT_OWED		4	/* 1: clears its own bit and parks nevertheless */
#define NO_OWED_PARK		5	/* 2: leaves although its bit is cleared */
#define WORD_BEFORE_ID		6	/* 3: looks at the word before the id */
#define ID_NOT_COMPARED		7	/* 3: registers again without a look at the id */
#define TIMEOUT_BEFORE_ID	8	/* 3: returns on a time-out before the id */
#define BIT_NOT_SET_AGAIN	9	/* 3: the new watcher does not register again */
#define WATCHER_BY_INFERENCE	10	/* 3: woken and not satisfied, so it must be the watcher */
#define NO_REREGISTRATION	11	/* 3: woken, so it must be satisfied */
#define ROLE_WITHOUT_LOOK	12	/* 4: watches without a look at its own bit */
#define WINNER_DOES_NOT_PARK	13	/* 4: own bit clear, so it hands over and returns */
#define TOKEN_NOT_TAKEN		14	/* 5: hands over without clearing the successor's bit */
#define GONE_IGNORED		15	/* 5: names a successor whose bit was gone */
#define ID_AFTER_ARRIVE		16	/* 5: arrive first, then the id */
#define LAST_DOES_NOT_LOOK	17	/* 5: id := none, and no look at the mask */
#define LAST_KEEPS_ROLE		18	/* 5: takes the role back and returns with it */
#define DEADLINE_NOT_CHECKED	19	/* 6: the watcher does not look at its own deadline */
#define OWN_BIT_LEFT		20	/* 6: times out and leaves its bit set */
#define NO_HAND_OVER		21	/* 6: times out and returns without handing over */
#define STATUS_LATE		22	/* 6: cancel: arrives first, then the status */
#define CANCEL_NOT_TOLD		23	/* 6: cancel: no status */
#define PARITY_RESTARTS		24	/* 7: the parity does not live in the lot */
#define LINE_KEPT		25	/* never frees a line */
#define OWN_TAGS_ONLY		26	/* raises only the words that its block wants */
#define LINE_READ_ONCE		27	/* reads a line when it comes to own it, not each turn */
#define WORDS_NOT_SEEN		28	/* sees only words of lines that it owns */
#define TWO_OWNERS		29	/* looks at the owner, then stores: no CAS */
#define TWO_OWNERS_STORE	30	/* and stores epochs instead of raising them */
#define WORD_BEFORE_PAYLOAD	31	/* publishes, then writes the payload */

#ifndef BROKEN
#define BROKEN NOTHING
#endif
#define WITHOUT(rule) (BROKEN == rule)

#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef WARPS
#define WARPS 2
#endif
#ifndef STARTED
#define STARTED (BLOCKS * WARPS)
#endif
#ifndef WAITS
#define WAITS 1
#endif
#ifndef EPOCHS
#define EPOCHS 1
#endif
#ifndef LINES
#define LINES 1
#endif
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef CANCEL
#define CANCEL 0
#endif
#ifndef PEER
#define PEER 0
#endif
#ifndef PAYLOAD
#define PAYLOAD 0
#endif

/* Tags and lines.  A set of lines is a byte: a bit a line, the control line, one for none. */
#define TAGS 2
#define CONTROL LINES			/* index of the control line */
#define NO_LINE 3
#if PEER
#define LINE_OF(tag) ((tag) == 1 -> NO_LINE : 0)
#elif LINES == 2
#define LINE_OF(tag) (tag)
#else
#define LINE_OF(tag) 0
#endif

#define BY_NONE 0
#define BY_WARP 1
#define BY_BLOCK 2
#define BY_ROUND 3
#ifndef TAGS_BY
#define TAGS_BY WARP
#endif
#define GLUE(a, b) a ## b
#define NAMED(a, b) GLUE(a, b)
#define TAGS_CHOSEN NAMED(BY_, TAGS_BY)
#if TAGS_CHOSEN == BY_WARP
#define TAG(b, w, round) ((w) % 2)
#elif TAGS_CHOSEN == BY_BLOCK
#define TAG(b, w, round) ((b) % 2)
#elif TAGS_CHOSEN == BY_ROUND
#define TAG(b, w, round) (((w) + (round)) % 2)
#else
#define TAG(b, w, round) 0
#endif
#define EPOCH(round) ((round) + 1)

/* Steps that are taken at once, to have fewer states; FINE: one by one. */
#ifdef FINE
#define AT_ONCE
#else
#define AT_ONCE d_step
#endif

/* Host memory. */
byte truth[TAGS];			/* of a peer's tag: what it has published, a ghost */
byte payload[TAGS];
bit control;				/* cancelled */

/* Device memory. */
byte word[TAGS];
bit control_word;
byte owner[LINES + 1];			/* 0, or 1 + the owning block */

/* Shared memory: a block's lot. */
byte mask[BLOCKS];			/* who is registered */
byte watcher[BLOCKS];			/* 0, or 1 + the warp that is the watcher */
bit status[BLOCKS];			/* cancelled */
#define ALL_WARPS (BLOCKS * WARPS)
#define SLOT(i) (b * WARPS + (i))	/* of warp i of the same block */
#define ME SLOT(w)
#define BIT (1 << w)
byte slot_tag[ALL_WARPS];
byte slot_want[ALL_WARPS];
bit phase[ALL_WARPS];			/* of the mbarrier, which counts one arrive */
bit parity[ALL_WARPS];			/* the phase that the warp has seen */

/* Ghosts: for what is checked, not part of the protocol. */
bit calm;				/* nothing comes from outside any more */
bit waiting[ALL_WARPS];
byte round[ALL_WARPS];			/* waits that have ended */
byte acting[BLOCKS];			/* a bit a warp that takes itself for the watcher */
byte watching[BLOCKS];			/* a bit a warp that takes a watcher's turns */
#if CANCEL
byte told[BLOCKS];			/* a bit a warp that was woken by a cancel */
#endif
byte owners[LINES + 1];			/* how many take themselves for the line's owner */

#define MY_TAG TAG(b, w, round[ME])
#define MY_EPOCH EPOCH(round[ME])

#if DEADLINES == 2
#define DEADLINE_PASSES true
#elif DEADLINES == 1
#define DEADLINE_PASSES (!calm)
#else
#define DEADLINE_PASSES false
#endif
#define CANCELLED (CANCEL && status[b])

/*
 * Would the next turn of block b's watcher change anything?  Without an effect its turn
 * waits, so that a lost wake-up is a state in which nothing can move.
 */
#define OWNS(line) (owned >> (line) & 1)
#define SEES(tag) (!WITHOUT(WORDS_NOT_SEEN) || OWNS(LINE_OF(tag)))
#define REGISTERED(i) (mask[b] >> (i) & 1)
#define HAS(i) (word[slot_tag[SLOT(i)]] >= slot_want[SLOT(i)] && SEES(slot_tag[SLOT(i)]))
#define IS_SATISFIED(i) (REGISTERED(i) && HAS(i))
#define WANTS_TAG(i, tag) (REGISTERED(i) && !HAS(i) && slot_tag[SLOT(i)] == (tag))
#define WANTS_LINE(i, line) (REGISTERED(i) && !HAS(i) && LINE_OF(slot_tag[SLOT(i)]) == (line))
#define IS_WANTED(line) (WANTS_LINE(0, line) || WANTS_LINE(1, line) || WANTS_LINE(2, line))
#define RAISES(tag) (!WITHOUT(OWN_TAGS_ONLY) || \
	WANTS_TAG(0, tag) || WANTS_TAG(1, tag) || WANTS_TAG(2, tag))
#define IS_NEW(line, tag) (LINE_OF(tag) == (line) && truth[tag] > word[tag] && RAISES(tag))
#define FREES(line) (!WITHOUT(LINE_KEPT) && OWNS(line) && !IS_WANTED(line))
#define TAKES(line) (owner[line] == 0 && IS_WANTED(line))
#define READS(line) (!WITHOUT(LINE_READ_ONCE) && OWNS(line) && \
	(IS_NEW(line, 0) || IS_NEW(line, 1)))
#define LINE_MOVES(line) (FREES(line) || TAKES(line) || READS(line))
#define CONTROL_MOVES (CANCEL && (control_word || owner[CONTROL] == 0 || \
	OWNS(CONTROL) && control))
#ifdef POLL
#define TURN_HAS_EFFECT true
#else
#define TURN_HAS_EFFECT (IS_SATISFIED(0) || IS_SATISFIED(1) || IS_SATISFIED(2) || \
	LINE_MOVES(0) || LINES == 2 && LINE_MOVES(LINES - 1) || CONTROL_MOVES)
#endif

inline arrive(i) {
	d_step {
		assert(phase[SLOT(i)] == parity[SLOT(i)]);	/* one arrive a park */
		phase[SLOT(i)] = 1 - phase[SLOT(i)]
	}
}

/* To be taken inside of a d_step. */
inline act_as_watcher() {
	acting[b] = acting[b] | BIT;
	assert(acting[b] == BIT)				/* one watcher */
}

inline own(line) {
	owner[line] = b + 1;
	owners[line]++;
	assert(owners[line] == 1 || WITHOUT(TWO_OWNERS_STORE));	/* one owner */
	owned = owned | 1 << line
}

inline disown(line) {
	owner[line] = 0;
	owners[line]--;
	owned = owned & ~(1 << line)
}

/* The watcher's turn, in the order of its parts. */

/* Which warps are satisfied, and which lines do the others want? */
inline look_at_words() {
	/* Rule 7: the slots after the mask. */
	seen = mask[b];
	AT_ONCE {
		satisfied = 0; wanted = 0; i = 0;
		do
		:: i == WARPS -> break
		:: i < WARPS && (seen >> i & 1) == 0 -> i++
		:: i < WARPS && (seen >> i & 1) == 1 ->
			tag = slot_tag[SLOT(i)];
			want = slot_want[SLOT(i)];
			if
			:: word[tag] >= want && SEES(tag) -> satisfied = satisfied | 1 << i
			:: else -> wanted = wanted | 1 << LINE_OF(tag) |
				(WITHOUT(OWN_TAGS_ONLY) -> 16 << tag : 0)
			fi;
			i++
		od;
		i = 0; seen = 0; tag = 0; want = 0
	}
}

/* Rule 6: on cancel the status first; all bits are cleared and all others get an arrive. */
inline look_at_control() {
	if
	:: CANCEL && control_word ->
		d_step {
			if
			:: WITHOUT(STATUS_LATE) || WITHOUT(CANCEL_NOT_TOLD)
			:: else -> status[b] = 1
			fi
		};
		d_step { satisfied = (1 << WARPS) - 1; cancelled = 1 }
	:: else
	fi
}

#if CANCEL
#define TELL(warps) told[b] = told[b] | (cancelled -> (warps) : 0)
#define NOT_TOLD assert((told[b] & BIT) == 0)
#define FORGET told[b] = told[b] & ~BIT
#else
#define TELL(warps) skip
#define NOT_TOLD skip
#define FORGET skip
#endif

/* Rule 1.  Afterwards `satisfied` says whether the watcher itself is. */
inline wake_satisfied() {
	d_step {
		seen = mask[b];
		mask[b] = mask[b] & ~satisfied;
		if
		:: WITHOUT(ARRIVE_FOR_ALL)
		:: else -> satisfied = satisfied & seen
		fi;
		TELL(satisfied & ~BIT);
		seen = 0
	};
	do
	:: i == WARPS -> break
	:: d_step { i < WARPS && ((satisfied >> i & 1) == 0 ||
			i == w && !WITHOUT(ARRIVE_AT_ITSELF)) -> i++ }
	:: i < WARPS && (satisfied >> i & 1) == 1 && (i != w || WITHOUT(ARRIVE_AT_ITSELF)) ->
		arrive(i);
		i++
	od;
	atomic { i = 0; satisfied = satisfied & BIT };
#if BROKEN == STATUS_LATE
	d_step { if :: cancelled -> status[b] = 1 :: else fi }
#endif
}

inline read_line(line) {
	AT_ONCE {
		do
		:: i == TAGS -> break
		:: i < TAGS && LINE_OF(i) == line -> copy[i] = truth[i]; i++
		:: i < TAGS && LINE_OF(i) != line -> i++
		od;
		i = 0
	}
}

/* Every word of the line that grew, whoever wants it: one step a word. */
#define IS_RAISED(tag, line) (LINE_OF(tag) == line && \
	(!WITHOUT(OWN_TAGS_ONLY) || (wanted >> (4 + tag) & 1)) && \
	(copy[tag] > word[tag] || WITHOUT(TWO_OWNERS_STORE)))
inline raise_words(line) {
	AT_ONCE {
		do
		:: i == TAGS -> break
		:: i < TAGS ->
			word[i] = (IS_RAISED(i, line) -> copy[i] : word[i]);
			copy[i] = 0;
			i++
		od;
		i = 0
	}
}

inline turn_to_lines() {
	line = 0;
	do
	:: line == LINES -> break
	:: line < LINES ->
		if
		:: d_step { !WITHOUT(LINE_KEPT) && OWNS(line) && (wanted >> line & 1) == 0 ->
			disown(line) }
#if BROKEN == TWO_OWNERS || BROKEN == TWO_OWNERS_STORE
		:: !OWNS(line) && (wanted >> line & 1) == 1 && owner[line] == 0 ->
			d_step { own(line) }
#elif BROKEN == LINE_READ_ONCE
		:: d_step { !OWNS(line) && (wanted >> line & 1) == 1 && owner[line] == 0 ->
			own(line) };
			read_line(line);
			raise_words(line)
#else
		:: d_step { !OWNS(line) && (wanted >> line & 1) == 1 && owner[line] == 0 ->
			own(line) }
#endif
		:: else
		fi;
		if
		:: !WITHOUT(LINE_READ_ONCE) && OWNS(line) ->
			read_line(line);
			raise_words(line)
		:: else
		fi;
		line++
	od;
	atomic { line = 0; wanted = 0 }
}

/* A line like any other, which every watcher wants. */
inline turn_to_control() {
#if CANCEL
	if
	:: d_step { !OWNS(CONTROL) && owner[CONTROL] == 0 -> own(CONTROL) }
	:: else
	fi;
	if
	:: OWNS(CONTROL) ->
		seen = control;
		d_step { control_word = control_word | seen; seen = 0 }
	:: else
	fi
#else
	skip
#endif
}

/* Before the watcher leaves. */
inline free_lines() {
	do
	:: d_step { line <= LINES && !OWNS(line) -> line++ }
	:: d_step { line <= LINES && OWNS(line) && !WITHOUT(LINE_KEPT) -> disown(line); line++ }
	:: d_step { line > LINES || WITHOUT(LINE_KEPT) -> line = 0 }; break
	od
}

proctype warp(byte b; byte w) {
	byte seen, satisfied, wanted, owned, line, tag, want, i;
	byte copy[TAGS];
	bit timed_out, cancelled;

begin:
	atomic {
		waiting[ME] = 1;
#if BROKEN == PARITY_RESTARTS
		parity[ME] = 0;
#endif
	};

look:
	if
	:: word[MY_TAG] >= MY_EPOCH -> goto satisfied_at_last
	:: else
	fi;
	if
	:: CANCELLED -> cancelled = 1; goto leave
	:: else
	fi;

	/* Register; then take the role, or park. */
	NOT_TOLD;				/* who was woken by a cancel does not wait again */
	AT_ONCE { slot_want[ME] = MY_EPOCH; slot_tag[ME] = MY_TAG };
	mask[b] = mask[b] | BIT;
	if
	:: d_step { watcher[b] == 0 -> watcher[b] = w + 1; act_as_watcher() };
#if BROKEN == ROLE_WITHOUT_LOOK
		goto watch
#else
		if
		:: REGISTERED(w) -> goto watch
		:: else ->
#if BROKEN == WINNER_DOES_NOT_PARK
			goto hand_over
#else
			goto park_owed					/* rule 4 */
#endif
		fi
#endif
	:: else
	fi;

	/* Parked: until an arrive, the own deadline or the block's status. */
	if
	:: d_step { phase[ME] != parity[ME] -> parity[ME] = phase[ME] }; goto woken
	:: DEADLINE_PASSES -> timed_out = 1
	:: CANCELLED -> cancelled = 1
	fi;
	d_step { seen = mask[b]; mask[b] = mask[b] & ~BIT };
#if BROKEN == STRAY_ARRIVE
	arrive(w);
#endif
	if
#if BROKEN == PARK_NOT_OWED
	:: d_step { (seen & BIT) != 0 -> seen = 0 }
#else
	:: d_step { (seen & BIT) != 0 -> seen = 0 }; goto leave		/* rule 1: owes nothing */
#endif
	:: else -> seen = 0
	fi;
#if BROKEN == NO_OWED_PARK
	goto leave;
#endif

park_owed:								/* rule 2 */
	atomic { phase[ME] != parity[ME] -> parity[ME] = phase[ME] };

woken:									/* rule 3 */
#if BROKEN == WORD_BEFORE_ID
	if
	:: word[MY_TAG] >= MY_EPOCH -> goto satisfied_at_last
	:: else
	fi;
#elif BROKEN == TIMEOUT_BEFORE_ID
	if
	:: timed_out || cancelled -> goto leave
	:: else
	fi;
#elif BROKEN == ID_NOT_COMPARED
	if
	:: timed_out || cancelled -> goto leave
	:: else -> goto look
	fi;
#elif BROKEN == WATCHER_BY_INFERENCE
	if
	:: word[MY_TAG] < MY_EPOCH && !timed_out && !cancelled ->
		mask[b] = mask[b] | BIT;
		goto watch
	:: else
	fi;
#endif
	if
	:: watcher[b] == w + 1 ->
		d_step { act_as_watcher() };
		if
		:: timed_out || cancelled -> goto hand_over
		:: else
		fi;
#if BROKEN != BIT_NOT_SET_AGAIN
		mask[b] = mask[b] | BIT;
#endif
		goto watch
	:: else
	fi;
#if BROKEN == NO_REREGISTRATION
	if
	:: !timed_out && !cancelled -> goto satisfied_at_last
	:: else
	fi;
#endif
	if
	:: timed_out || cancelled -> goto last_look
	:: else -> goto look
	fi;

watch:
	atomic { assert(watcher[b] == w + 1); act_as_watcher(); watching[b] = BIT };
	do
	:: DEADLINE_PASSES && !WITHOUT(DEADLINE_NOT_CHECKED) ->		/* rule 6 */
		timed_out = 1;
		d_step {
			assert(REGISTERED(w));
			if
			:: WITHOUT(OWN_BIT_LEFT)
			:: else -> mask[b] = mask[b] & ~BIT
			fi
		};
		break
	:: TURN_HAS_EFFECT ->
		look_at_words();
		look_at_control();
		if
		:: satisfied != 0 ->
			wake_satisfied();
			if
			:: d_step { satisfied != 0 -> satisfied = 0 }; break
			:: else
			fi
		:: else
		fi;
		turn_to_lines();
		turn_to_control()
	od;
	atomic { watching[b] = 0; wanted = 0 };
	free_lines();
#if BROKEN == NO_HAND_OVER
	if
	:: timed_out -> goto leave
	:: else
	fi;
#endif

hand_over:								/* rule 5 */
	seen = mask[b];
	if
	:: seen != 0 ->
		if						/* any successor */
		:: d_step { (seen & 1) != 0 -> i = 0 }
		:: d_step { (seen & 2) != 0 -> i = 1 }
		:: d_step { (seen & 4) != 0 -> i = 2 }
		fi;
#if BROKEN != TOKEN_NOT_TAKEN
		d_step { seen = mask[b]; mask[b] = mask[b] & ~(1 << i) };
		if
		:: d_step { (seen >> i & 1) == 0 && !WITHOUT(GONE_IGNORED) -> seen = 0; i = 0 };
			goto hand_over				/* gone: another */
		:: else
		fi;
#endif
#if BROKEN == ID_AFTER_ARRIVE
		arrive(i);
		d_step { acting[b] = acting[b] & ~BIT; watcher[b] = i + 1 };
#else
		d_step { acting[b] = acting[b] & ~BIT; watcher[b] = i + 1 };
		arrive(i);
#endif
		d_step { seen = 0; i = 0 }
	:: else ->
		d_step { acting[b] = acting[b] & ~BIT; watcher[b] = 0 };
		if
		:: mask[b] == 0 || WITHOUT(LAST_DOES_NOT_LOOK)
		:: else ->
			if
			:: d_step { watcher[b] == 0 -> watcher[b] = w + 1; act_as_watcher() };
#if BROKEN == LAST_KEEPS_ROLE
				goto last_look
#else
				goto hand_over
#endif
			:: else
			fi
		fi
	fi;

last_look:
	if
	:: (timed_out || cancelled) && word[MY_TAG] < MY_EPOCH -> goto leave
	:: else
	fi;

satisfied_at_last:
	atomic {
		timed_out = 0; cancelled = 0;
		assert(word[MY_TAG] >= MY_EPOCH);			/* no early wake-up */
		assert(truth[MY_TAG] >= MY_EPOCH);
		assert(!PAYLOAD || payload[MY_TAG] >= MY_EPOCH)
	};

leave:
	atomic {
		assert(!cancelled || control);
		assert(phase[ME] == parity[ME]);			/* no arrive is outstanding */
		assert(!REGISTERED(w));					/* no token is left behind */
		assert(watcher[b] != w + 1);				/* nor the role carried away */
		assert(owned == 0 || WITHOUT(LINE_KEPT));
		FORGET;
		waiting[ME] = 0; timed_out = 0; cancelled = 0; seen = 0; owned = 0;
		round[ME] = round[ME] + 1
	};
	if
	:: round[ME] < WAITS -> goto begin
	:: else
	fi
}

/* The publisher of a tag: nothing waits for it, and it stops anywhere. */
proctype publisher(byte tag) {
#if PAYLOAD
	do
	:: d_step { !calm && truth[tag] < EPOCHS && payload[tag] == truth[tag] ->
#if BROKEN == WORD_BEFORE_PAYLOAD
		truth[tag]++; word[tag] = (LINE_OF(tag) == NO_LINE -> truth[tag] : word[tag]) };
		d_step { !calm -> payload[tag]++ }
#else
		payload[tag]++ };
		d_step { !calm -> truth[tag]++;
			word[tag] = (LINE_OF(tag) == NO_LINE -> truth[tag] : word[tag]) }
#endif
	od
#else
	do
	:: d_step { !calm && truth[tag] < EPOCHS -> truth[tag]++;
		word[tag] = (LINE_OF(tag) == NO_LINE -> truth[tag] : word[tag]) }
	od
#endif
}

proctype outside() {
	do
	:: d_step { CANCEL && !control -> control = 1 }
	:: calm = 1; break
	od
}

#ifndef POLL
/* Nothing can move: who waits still, and may it? */
proctype check() {
	byte i, b;
	bit lost_wakeup, cancel_missed, deadline_missed, role_lost;

	timeout ->
	d_step {
		do
		:: i == ALL_WARPS -> break
		:: i < ALL_WARPS && !waiting[i] -> i++
		:: i < ALL_WARPS && waiting[i] ->
			b = i / WARPS;
			lost_wakeup = (truth[TAG(b, i % WARPS, round[i])] >= EPOCH(round[i]));
			cancel_missed = control;
			deadline_missed = (DEADLINES == 2);
			role_lost = (watcher[b] == 0 || watching[b] != 1 << (watcher[b] - 1));
			assert(!lost_wakeup);
			assert(!cancel_missed);
			assert(!deadline_missed);
			assert(!role_lost);
			i++
		od
	}
}
#endif

init {
	byte i;
	atomic {
		do
		:: i < STARTED -> run warp(i / WARPS, i % WARPS); i++
		:: else -> break
		od;
		run publisher(0);
#if TAGS_CHOSEN != BY_NONE
		run publisher(1);
#endif
#ifndef POLL
		run check();
#endif
		run outside()
	}
}

#ifdef POLL
ltl no_lost_wakeup {
	[] (waiting[0] && truth[TAG(0, 0, round[0])] >= EPOCH(round[0]) -> <> !waiting[0])
}
#endif
