// Spares consistent reads the question to etcd where one replica does all the writing, which is the case wherever there is only one.
//
// A key says who owns the right to write: nobody, and then everybody may; or one replica, and then only that one. Every transaction that writes
// data has the condition that the key is as its author saw it last. So an owner whose own writes have all arrived in its mirror has everything
// there is, and need not ask. Its ownership can be taken away, so it must not rely on it for longer than a moment after having asked:
//
//   owner: 'a'                 a writes, and reads without asking for `goodForMs` after each answer that says so
//   b wants to write: 'a leaves'     nobody may write; a, when it hears of it, stops relying on it and says so: nobody
//                              if a does not say so, b waits until a cannot rely on it any more, whatever it does, and says it in its place
//   nobody                     both write, and both ask; a replica that has been the only one to write for a while becomes the owner, and at once
//                              where no other one answers reads: so it is soon after a start, before the first long list makes questions slow
//
// Each replica that answers reads says so by a key of its own before it asks to be allowed to write (see reader-key.ts). So an owner who was told, since
// it became the owner, that there is no other reader is alone until its ownership is taken away: nobody else can have shown a write of its own that is
// still on its way, and it need not wait for that write to answer reads.
//
// Time is measured by clocks that only go forward, each side its own; that they run at about the same speed is all that is assumed of them.

import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { decodeTxn, encodeTxn, type KeyValue, methods, type Operation } from './messages.js'

export interface OwnershipOptions {
  readonly client: Pick<EtcdClient, 'call' | 'persist'>
  readonly keys: EtcdKeys
  /** This replica; no other ever has the same. */
  readonly id: string
  /** How long nobody else may have written before this replica becomes the owner, where others answer reads. */
  readonly quietMs: number
}

/** The key as it was at some time. */
interface OwnerRecord {
  /** etcd's revision of it; 0: it is not there, which means nobody. */
  readonly step: number
  /** Empty: nobody. */
  readonly owner: string
  readonly isLeaving: boolean
}

const goodForMs = 1000
/** How long somebody who does not answer may still rely on being the owner, with room for clocks that do not agree on what a second is. */
const leavingMs = 1250
const leaves = ' leaves'
const claimEveryMs = 500
/** How long one that ends tries to leave nothing behind: etcd may be gone, but one that elects a leader or is started again is back after a second or two. */
const endingMs = 2500

export class Ownership {
  readonly #options: OwnershipOptions
  #record: OwnerRecord = { step: 0, owner: '', isLeaving: false }
  #seenMs = performance.now()
  #goodUntilMs = 0
  /** The step at which nobody else was reading. */
  #aloneStep = 0
  #hasOtherReaders = true
  #othersWroteMs = performance.now()
  #triedToClaimMs = Number.NEGATIVE_INFINITY
  /** The step that was the condition of the last claim: while it is the newest that is known here, that claim may have become true, or still may. */
  #claimedUnder: number | undefined
  #isEnding = false
  #onChange: (() => void)[] = []

  constructor(options: OwnershipOptions) {
    this.#options = options
  }

  /** etcd's revision of the key as it is known here: the condition of every write. */
  get step(): number {
    return this.#record.step
  }

  /** Whether nobody needs to be asked for the right to write, as far as is known. */
  get isAllowed(): boolean {
    return this.#record.owner === '' || this.isOurs
  }

  /** Whether this replica has the right to write, as far as is known: a write that has `step` for its condition succeeds only then. */
  get isOurs(): boolean {
    return this.#record.owner === this.#options.id && !this.#record.isLeaving
  }

  /** Whether this replica is certainly the only one that can write now. */
  get isCertain(): boolean {
    return this.isOurs && performance.now() < this.#goodUntilMs
  }

  /** Whether, besides, nobody else answers reads. */
  get isAlone(): boolean {
    return this.#aloneStep === this.#record.step && this.isCertain
  }

  /** Whether certainty ends soon. */
  get isFading(): boolean {
    return this.#goodUntilMs - performance.now() < goodForMs / 2
  }

  /** The key, as an answer or a change says; undefined: it is not there. What is older than what is known is ignored. */
  note(item: KeyValue | undefined): void {
    const record = recordOf(item)
    if (record.step <= this.#record.step) return
    this.#record = record
    this.#seenMs = performance.now()
    this.#goodUntilMs = 0
    const listeners = this.#onChange
    this.#onChange = []
    for (const listener of listeners) listener()
    if (record.isLeaving && record.owner === this.#options.id) void this.#replace('').catch(() => undefined)
  }

  /** The key and those of readers, as the answer to a question that was sent at a time says. */
  confirm(items: readonly KeyValue[], askedMs: number): void {
    const { keys, id } = this.#options
    const item = items.find(({ key }) => keys.kindOf(key) === 'owner')
    this.note(item)
    const own = keys.reader(id)
    this.#hasOtherReaders = items.some(({ key }) => keys.kindOf(key) === 'reader' && key.toString() !== own)
    if (!item) return
    this.confirmStep(item.modRevision, askedMs)
    this.#aloneStep = this.#hasOtherReaders ? 0 : item.modRevision
  }

  /** The key was at this revision of etcd after the time. */
  confirmStep(step: number, sinceMs: number): void {
    if (this.isOurs && step === this.#record.step) this.#goodUntilMs = Math.max(this.#goodUntilMs, sinceMs + goodForMs)
  }

  /** Another replica has written. */
  noteOthers(): void {
    this.#othersWroteMs = performance.now()
  }

  /** Becomes the owner if nobody is, and nobody else has written for a while or is there at all. */
  async claimIfQuiet(): Promise<void> {
    const nowMs = performance.now()
    const isQuiet = !this.#hasOtherReaders || nowMs - this.#othersWroteMs > this.#options.quietMs
    if (this.#isEnding || this.#record.owner !== '' || !isQuiet || nowMs - this.#triedToClaimMs < claimEveryMs) return
    this.#triedToClaimMs = nowMs
    this.#claimedUnder = this.#record.step
    await this.#replace(this.#options.id)
  }

  /** One attempt at being allowed to write: takes the right from an owner who may be gone. */
  async beAllowed(): Promise<void> {
    for (;;) {
      const { owner, isLeaving, step } = this.#record
      if (this.isAllowed) return
      if (!isLeaving) await this.#replace(`${owner}${leaves}`)
      else if (owner === this.#options.id) await this.#replace('')
      else {
        await this.#change(this.#seenMs + leavingMs - performance.now())
        const hasLeft = this.#record.step === step && performance.now() >= this.#seenMs + leavingMs
        if (hasLeft) await this.#replace('')
      }
    }
  }

  /**
   * For a replica that ends: it does not own the right afterwards, and does not claim it again. A claim that is on its way need not be waited for: this
   * has the same condition, so that one of them comes too late, and whichever it is, it is known then.
   */
  async giveUp(): Promise<void> {
    this.#isEnding = true
    const endMs = performance.now() + endingMs
    await this.#options.client.persist(endMs, async (timeoutMs) => {
      while (this.#mayBeOurs && performance.now() < endMs) await this.#replace('', timeoutMs)
    })
  }

  /** Whether it cannot be ruled out that the key names this replica, or will. */
  get #mayBeOurs(): boolean {
    return this.#record.owner === this.#options.id || this.#record.step === this.#claimedUnder
  }

  /** Resolves when the key has changed, or the time is up. */
  #change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, timeoutMs))
      this.#onChange.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Writes the key unless it has changed; either way it is known afterwards. */
  async #replace(value: string, timeoutMs = goodForMs): Promise<void> {
    const { client, keys } = this.#options
    const key = keys.owner
    const put: Operation = { kind: 'put', key, value: [Buffer.from(value)] }
    const compare = [{ key, modRevision: this.#record.step }]
    const message = encodeTxn({ compare, success: [put], failure: [{ kind: 'range', request: { key } }] }, 256)
    const { succeeded, revision, answers } = decodeTxn(await client.call(methods.txn, message, timeoutMs))
    if (succeeded) this.note({ key: Buffer.from(key), value: Buffer.from(value), modRevision: revision })
    else this.note(answers[0]?.range?.items[0])
  }
}

function recordOf(item: KeyValue | undefined): OwnerRecord {
  const text = item?.value.toString() ?? ''
  const isLeaving = text.endsWith(leaves)
  return { step: item?.modRevision ?? 0, owner: isLeaving ? text.slice(0, -leaves.length) : text, isLeaving }
}
