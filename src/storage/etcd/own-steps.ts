// What the mirror learns while its replica is the only one who writes: etcd need not send back what this replica has written itself, which would cost
// both as much as the write. Its own writes come with their answers, deletions of leases that ended from a watch that leaves out everything else.
//
// Every step of etcd is accounted for: a step is taken in only when it is the one after the mirror's position. Where one is missing, somebody else has
// used this etcd, and the whole stream of changes must tell what it was.

import type { Mirror, MirroredWrite } from '../mirror.js'

export interface Step {
  readonly step: number
  readonly writes: readonly MirroredWrite[]
}

export interface OwnStepsOptions {
  readonly mirror: Mirror
  /** Whether a write of this replica may be in etcd whose answer is not here. */
  readonly isWriting: () => boolean
  /** A step is missing. */
  readonly onMissing: () => void
}

/** An answer may be here before the deletion of a step before it, but not by much. */
const patienceMs = 20

export class OwnSteps {
  readonly #options: OwnStepsOptions
  #own: Step[] = []
  #deletions: Step[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(options: OwnStepsOptions) {
    this.#options = options
  }

  /** In the order of their steps. Throws what the mirror throws; then the whole stream of changes must bring it again. */
  takeOwn(step: Step): void {
    const { mirror } = this.#options
    if (this.#isEmpty && step.step === mirror.position + 1) mirror.apply({ writes: step.writes, position: step.step })
    else {
      this.#own.push(step)
      this.#drain()
    }
  }

  /** Those of one step, in the order of their steps: etcd's own, or the echo of this replica's. */
  takeDeletions(step: Step): void {
    this.#deletions.push(step)
    this.#drain()
  }

  /** What is left is told by the whole stream of changes. */
  clear(): void {
    this.#own = []
    this.#deletions = []
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  get #isEmpty(): boolean {
    return this.#own.length === 0 && this.#deletions.length === 0
  }

  #drain(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#options.mirror.apply({ writes: next.writes, position: next.step })
    }
    if (this.#isEmpty) this.clear()
    else this.#timer ??= setTimeout(() => this.#giveUp(), patienceMs)
  }

  #next(): Step | undefined {
    const { mirror, isWriting } = this.#options
    const position = mirror.position
    const isKnown = ({ step }: Step): boolean => step <= position || this.#own.some((own) => own.step === step)
    while (this.#own[0] && this.#own[0].step <= position) this.#own.shift()
    while (this.#deletions[0] && isKnown(this.#deletions[0])) this.#deletions.shift()
    const wanted = position + 1
    if (this.#own[0]?.step === wanted) return this.#own.shift()
    // A deletion may be this replica's own as long as its answer is not here, and that says more than the deletion does.
    const isForeign = this.#own.length > 0 || !isWriting()
    return this.#deletions[0]?.step === wanted && isForeign ? this.#deletions.shift() : undefined
  }

  #giveUp(): void {
    this.#timer = undefined
    const { isWriting, onMissing } = this.#options
    // A write that is on its way may take its time, and a deletion that waits for its answer, too.
    if (this.#own.length === 0 && isWriting()) this.#timer = setTimeout(() => this.#giveUp(), patienceMs)
    else onMissing()
  }
}
