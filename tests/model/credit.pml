/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Release and credits: one tag, whose epochs lie by turns in the two pages of a pair.  The
 * publisher fills a page again only when the credit for what it held is back.  Each
 * epoch has READERS warps of LANES lanes; the warp whose release is the last of the
 * epoch's stores the credit of the page, after all lanes have read.  Warps wait for
 * their own epoch only, so a later epoch may be released before an earlier one.
 *
 * What must hold: a lane reads what its epoch's publisher wrote; when nothing can move, all
 * is published, although nobody waits any more; no livelock.
 *
 * By -D: EPOCHS, READERS, LANES; BROKEN is the rule that is taken out.
 */

#define NOTHING			0
#define CREDIT_BEFORE_READS	1	/* the warp releases, then its lanes read */
#define LANES_NOT_AWAITED	2	/* the first lane that has read releases: no __syncwarp */
#define CREDIT_BY_EACH		3	/* each warp's release stores the credit */
#define CREDIT_BY_TAG		4	/* one word a tag, not one a page of the pair */
#define CREDIT_BY_WATCHER	5	/* a watcher carries the credit, and nobody waits */

#ifndef BROKEN
#define BROKEN NOTHING
#endif
#define WITHOUT(rule) (BROKEN == rule)

#ifndef EPOCHS
#define EPOCHS 3
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef LANES
#define LANES 2
#endif

#define PAGE(epoch) ((epoch) % 2)
#define CREDIT(epoch) (WITHOUT(CREDIT_BY_TAG) -> 0 : PAGE(epoch))

byte truth;
byte page[2 * LANES];			/* what each lane reads; filled one after the other */
byte credit[2];				/* host memory: the epoch that was released */
byte released[EPOCHS + 1];		/* readers of the epoch that are done */
byte lanes_done[(EPOCHS + 1) * READERS];

/* Ghost. */
byte waiting;				/* warps that wait for their epoch */

proctype publisher() {
	byte epoch, i;

	for (epoch : 1 .. EPOCHS) {
		/* stage */
		if
		:: epoch <= 2
		:: epoch > 2 -> credit[CREDIT(epoch)] >= epoch - 2
		fi;
		for (i : 0 .. LANES - 1) {
			page[PAGE(epoch) * LANES + i] = epoch
		}
		truth = epoch
	}
}

#define WARP (epoch * READERS + reader)

inline release() {
	d_step { released[epoch]++; last = (released[epoch] == READERS) };
	if
	:: (last || WITHOUT(CREDIT_BY_EACH)) && (!WITHOUT(CREDIT_BY_WATCHER) || waiting > 0) ->
		credit[CREDIT(epoch)] = (credit[CREDIT(epoch)] > epoch ->
			credit[CREDIT(epoch)] : epoch)
	:: else
	fi
}

proctype lane(byte epoch; byte reader; byte i) {
	bit last;

	if
	:: i == 0 -> waiting++			/* comes at any time */
	:: else
	fi;
	atomic { truth >= epoch ->
		if
		:: i == 0 -> waiting--
		:: else
		fi
	};
#if BROKEN == CREDIT_BEFORE_READS
	if
	:: i == 0 -> release()
	:: else
	fi;
#endif
	assert(page[PAGE(epoch) * LANES + i] == epoch);
#if BROKEN == LANES_NOT_AWAITED
	if
	:: i == 0 -> release()
	:: else
	fi
#elif BROKEN != CREDIT_BEFORE_READS
	lanes_done[WARP]++;
	if
	:: i == 0 -> lanes_done[WARP] == LANES; release()
	:: else
	fi
#endif
}

proctype check() {
	timeout -> assert(truth == EPOCHS)
}

init {
	byte epoch, reader, i;
	atomic {
		run publisher();
		run check();
		for (epoch : 1 .. EPOCHS) {
			for (reader : 0 .. READERS - 1) {
				for (i : 0 .. LANES - 1) {
					run lane(epoch, reader, i)
				}
			}
		}
	}
}
