// How much defaults may add to one object: a few bytes in a request must not become a thousand times as many.

import { requestEntityTooLarge } from '../../../api/api-error.js'
import type { RuleContext } from '../../../api/definition.js'
import { Strain } from '../../../base/weight.js'

/** As much as a request may have itself. */
const mostBytes = 3 << 20
/** What comes behind the defaults takes longer than they do: rules, owners of fields, the store. */
const heavyBytes = 64 << 10
/** The clock is asked for one of so many objects. */
const betweenLooks = 64

export interface Filling {
  /** Counts a default of so many bytes; false: it is left out. */
  hasRoomFor(bytes: number): boolean
  /** To be called for each object that is looked at. */
  look(): void
}

/** Of an object that somebody writes: what takes long is left to the thread for heavy requests, and what is too much is refused. */
export class RefusingFilling implements Filling {
  readonly #context: Pick<RuleContext, 'leaveIfMovable'>
  #strain: Strain | undefined
  #bytes = 0
  #looks = 0

  constructor(context: Pick<RuleContext, 'leaveIfMovable'>) {
    this.#context = context
  }

  hasRoomFor(bytes: number): boolean {
    this.#bytes += bytes
    if (this.#bytes > mostBytes) throw requestEntityTooLarge(`limit is ${mostBytes}`)
    if (this.#bytes > heavyBytes) this.#strained().expect(Number.POSITIVE_INFINITY)
    return true
  }

  look(): void {
    if (++this.#looks % betweenLooks === 0) this.#strained().look()
  }

  /** Most objects need none. */
  #strained(): Strain {
    this.#strain ??= new Strain(() => this.#context.leaveIfMovable?.())
    return this.#strain
  }
}

/** Of an object that is stored already: it can be read, and deleted, whatever its definition says today. */
export class SparingFilling implements Filling {
  #left = mostBytes

  hasRoomFor(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  look(): void {
    // What is read goes through few objects at a time.
  }
}
