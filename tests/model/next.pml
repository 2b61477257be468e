/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * next: a queue of tags that are ready.  The publisher writes the k-th of them into truth
 * slot k mod SIZE, with its lap k / SIZE.  A consumer takes a ticket and waits for its
 * device slot.  Whoever owns the queue moves tags, in order, from truth slots to the device
 * slots of tickets, and passes the tickets that were closed by a deadline.  Owners come
 * and go; what they know lies in device memory: `drained` and `head`.
 *
 * A slot is one word, lap and value, that only grows: values of a lap are EMPTY, a tag and
 * CLOSED.  Whoever is done with a device slot makes it EMPTY of the next lap: the consumer
 * that has read its tag, the owner that passes a closed ticket.  A ticket may be taken only
 * when its slot is of its lap.  Without that a consumer whose tickets keep timing out
 * behind one that waits longer would come round to a slot that is in use, and could not
 * even give up: there is nothing there that it may close.
 *
 * What must hold: a tag goes to one consumer; tags go to tickets in order; when nothing can
 * move, nobody waits while a tag is left, and none is lost; no livelock.
 *
 * Size, by -D: SIZE slots, CONSUMERS, WAITS each, PUBLISHED tags (laps: more than SIZE).
 * Each wait may time out.  `calm`: the publisher stops, no deadline passes any more.
 * BROKEN is the rule that is taken out, a name of the list below.
 */

#define NOTHING			0
#define CLOSED_WITHOUT_CAS	1	/* time-out against fill: looks, then stores CLOSED */
#define CLOSER_DROPS_TAG	2	/* gives up, finds a tag and leaves it */
#define CLOSED_NOT_PASSED	3	/* a tag that meets a closed ticket is spent */
#define SLOT_IS_COPY		4	/* device slot j is the copy of truth slot j */
#define TWO_OWNERS		5	/* nobody owns the queue */
#define TRUTH_WITHOUT_LAP	6	/* any tag in a truth slot is a new one */
#define SLOT_WITHOUT_LAP	7	/* any tag in a device slot is the consumer's own */
#define TICKET_WITHOUT_SLOT	8	/* takes a ticket though its slot is in use, and leaves it so */
#define TAG_NOT_AWAITED		9	/* fills a slot whose last tag was not read */
#define NO_CREDIT		10	/* publishes more than SIZE tags that nobody released */

#ifndef BROKEN
#define BROKEN NOTHING
#endif
#define WITHOUT(rule) (BROKEN == rule)

#ifndef SIZE
#define SIZE 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef WAITS
#define WAITS 2
#endif
#ifndef PUBLISHED
#define PUBLISHED 4
#endif

#define EMPTY 0
#define CLOSED 15			/* tags are 1 to PUBLISHED */
#define WORD(lap, value) ((lap) << 4 | (value))
#define LAP(word) ((word) >> 4)
#define VALUE(word) ((word) & 15)

byte truth[SIZE];			/* host memory */
byte slot[SIZE];			/* device memory, like all that follows */
byte ticket;
bit owned;
byte drained;				/* truth slots that were consumed */
byte head;				/* the ticket to serve next */

/* Ghosts. */
bit calm;
byte published;
byte released;				/* tags whose credit is back */
byte delivered;
bit was_delivered[PUBLISHED + 1];
byte ticket_of[PUBLISHED + 1];
byte waiting;				/* consumers */

#define TRUTH_IS_NEW (drained < PUBLISHED && VALUE(truth[drained % SIZE]) != EMPTY && \
	(LAP(truth[drained % SIZE]) == drained / SIZE || WITHOUT(TRUTH_WITHOUT_LAP)))
#define SLOT_IS_READ (LAP(slot[head % SIZE]) == head / SIZE || WITHOUT(TAG_NOT_AWAITED))

proctype publisher() {
	do
	:: d_step { !calm && published < PUBLISHED &&
		(published - released < SIZE || WITHOUT(NO_CREDIT)) ->
		truth[published % SIZE] = WORD(published / SIZE, published + 1);
		published++ }
	od
}

proctype outside() {
	calm = 1
}

#if BROKEN == SLOT_IS_COPY
/* A level compared, slot by slot; a tag whose ticket is closed goes to the next open one. */
#define IS_NEWER(j) (VALUE(truth[j]) != EMPTY && (slot[j] == EMPTY || slot[j] == CLOSED))
proctype owner() {
	byte j, h;

	do
	:: d_step { !owned && (IS_NEWER(0) || IS_NEWER(1)) -> owned = 1 };
		do
		:: j == 2 -> j = 0; break
		:: j < 2 && !IS_NEWER(j) -> j++
		:: j < 2 && IS_NEWER(j) ->
			h = j;
			do
			:: h == SIZE -> break
			:: d_step { h < SIZE && slot[h] == EMPTY -> slot[h] = truth[j] }; break
			:: h < SIZE && slot[h] != EMPTY -> h++
			od;
			slot[j] = truth[j];
			h = 0;
			j++
		od;
		owned = 0
	od
}
#else
/* Serves one tag, then leaves or goes on. */
proctype owner() {
	byte tag, h;

	do
	:: d_step { !owned && TRUTH_IS_NEW && SLOT_IS_READ ->
#if BROKEN != TWO_OWNERS
		owned = 1
#endif
		};
		tag = VALUE(truth[drained % SIZE]);
		do
		:: h = head;
			if
			:: d_step { slot[h % SIZE] == WORD(h / SIZE, EMPTY) ||
					WITHOUT(TAG_NOT_AWAITED) &&
					LAP(slot[h % SIZE]) < h / SIZE ->
				slot[h % SIZE] = WORD(h / SIZE, tag) };
				head = h + 1;
				drained = drained + 1;
				break
			:: slot[h % SIZE] == WORD(h / SIZE, CLOSED) ->
				slot[h % SIZE] = WORD(h / SIZE + 1, EMPTY);
				head = h + 1;
#if BROKEN == CLOSED_NOT_PASSED
				drained = drained + 1;
				break
#endif
			:: else -> break	/* the slot's last tag has yet to be read */
			fi
		od;
		atomic { h = 0; tag = 0; owned = 0 }
	od
}
#endif

#define MINE (t % SIZE)
#define MY_LAP (t / SIZE)

proctype consumer() {
	byte t, tag, i, waits;

begin:
	waiting++;
#if BROKEN == TICKET_WITHOUT_SLOT || BROKEN == SLOT_WITHOUT_LAP
	d_step { t = ticket; ticket++ };
#else
	do
	:: t = ticket;
		if
		:: LAP(slot[MINE]) == MY_LAP ->
			if
			:: d_step { ticket == t -> ticket = t + 1 }; break
			:: else				/* another's */
			fi
		:: else ->				/* all slots are in use */
			if
			:: LAP(slot[MINE]) >= MY_LAP || ticket != t
			:: !calm -> goto leave		/* deadline */
			fi
		fi
	od;
#endif
	if
	:: VALUE(slot[MINE]) != EMPTY &&
		(LAP(slot[MINE]) == MY_LAP || WITHOUT(SLOT_WITHOUT_LAP))
	:: !calm ->					/* deadline: close the ticket */
#if BROKEN == CLOSED_WITHOUT_CAS
		if
		:: slot[MINE] == WORD(MY_LAP, EMPTY) ->
			slot[MINE] = WORD(MY_LAP, CLOSED);
			goto leave
		:: else
		fi
#elif BROKEN == CLOSER_DROPS_TAG
		if
		:: d_step { slot[MINE] == WORD(MY_LAP, EMPTY) ->
			slot[MINE] = WORD(MY_LAP, CLOSED) }
		:: else -> slot[MINE] = WORD(MY_LAP + 1, EMPTY)
		fi;
		goto leave
#else
		if
		:: d_step { slot[MINE] == WORD(MY_LAP, EMPTY) ->
			slot[MINE] = WORD(MY_LAP, CLOSED) };
			goto leave
#if BROKEN == TICKET_WITHOUT_SLOT
		:: LAP(slot[MINE]) < MY_LAP -> goto leave
#endif
		:: else					/* a tag came: return that */
		fi
#endif
	fi;
	tag = VALUE(slot[MINE]);
	slot[MINE] = WORD(MY_LAP + 1, EMPTY);
	d_step {
		assert(tag >= 1 && tag <= PUBLISHED);
		assert(was_delivered[tag] == 0);	/* to one consumer */
		was_delivered[tag] = 1;
		ticket_of[tag] = t;
		delivered++;
		i = 1;
		do
		:: i > PUBLISHED -> break
		:: i <= PUBLISHED ->
			assert(!was_delivered[i] || i == tag ||
				(i < tag) == (ticket_of[i] < t));	/* in order */
			i++
		od;
		i = 0; tag = 0
	};
	atomic { waiting--; t = 0 };
	released++;					/* the reads are done: the credit */
	goto again;

leave:
	atomic { waiting--; t = 0 };
again:
	waits++;
	if
	:: waits < WAITS -> goto begin
	:: else
	fi
}

/* Nothing can move. */
proctype check() {
	bit starved, tag_lost;

	timeout ->
	d_step {
		starved = (waiting > 0 && delivered < published);
		tag_lost = (!WITHOUT(SLOT_IS_COPY) &&
			drained != delivered + (head > ticket -> head - ticket : 0));
		assert(!starved);
		assert(!tag_lost)
	}
}

init {
	byte i;
	atomic {
		do
		:: i < CONSUMERS -> run consumer(); i++
		:: else -> break
		od;
		run owner();
		run owner();
		run publisher();
		run check();
		run outside()
	}
}
