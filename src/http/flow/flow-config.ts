// The flow schemas and priority levels of one moment, made into what requests are classified by. Levels stay the same values while they are there,
// because requests wait in them.

import type { Identity } from '../../api/identity.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { type Classify, classifier } from './classify.js'
import { Flow, FlowTally } from './flow.js'
import type { FlowSchemaObject, LimitedLevel, PriorityLevelObject } from './flow-objects.js'
import { PriorityLevel } from './priority-level.js'

export interface FlowObjects {
  readonly schemas: readonly FlowSchemaObject[]
  readonly levels: readonly PriorityLevelObject[]
}

export interface FlowConfig {
  readonly classify: Classify<Flow>
  /** For what no schema takes. */
  readonly otherwise: Flow
  readonly levels: ReadonlyMap<string, PriorityLevel>
}

const catchAll = 'catch-all'

export class FlowConfigs {
  readonly tallies = new Map<string, FlowTally>()
  readonly #identity: Identity
  /** Seats of all levels together. */
  readonly #total: number
  readonly #levels = new Map<string, PriorityLevel>()

  constructor(identity: Identity, total: number) {
    this.#identity = identity
    this.#total = total
  }

  /** There must be a schema and a level that take what nobody else does. */
  make({ schemas, levels }: FlowObjects): FlowConfig {
    const names = new Set(levels.map(({ name }) => name))
    for (const name of this.#levels.keys()) if (!names.has(name)) this.#levels.delete(name)
    for (const object of levels) getOrInsert(this.#levels, object.name, () => new PriorityLevel(object.name)).configure(object)
    this.#shareOut(levels)
    const flows = schemas.flatMap((object) => {
      const level = this.#levels.get(object.level)
      return level === undefined ? [] : [{ object, schema: this.#flowOf(object, level) }]
    })
    this.#forgetTallies(new Set(flows.map(({ schema }) => schema.tally)))
    const otherwise = flows.find(({ object }) => object.name === catchAll)?.schema
    if (otherwise === undefined) throw new Error(`there is no flow schema ${catchAll} with its priority level`)
    return { classify: classifier(flows), otherwise, levels: new Map(this.#levels) }
  }

  #flowOf(object: FlowSchemaObject, level: PriorityLevel): Flow {
    const tally = getOrInsert(this.tallies, `${object.name}/${level.name}`, () => new FlowTally(object.name, level.name))
    return new Flow(object, { level, tally, identity: this.#identity })
  }

  /** What is gone is not counted any more once nobody waits there or is at work: names come and go without an end. */
  #forgetTallies(present: ReadonlySet<FlowTally>): void {
    for (const [key, tally] of this.tallies) if (!present.has(tally) && tally.isIdle) this.tallies.delete(key)
  }

  #shareOut(objects: readonly PriorityLevelObject[]): void {
    const shares = objects.reduce((sum, { limited }) => sum + (limited?.shares ?? 0), 0)
    for (const { name, limited } of objects) {
      const level = this.#levels.get(name)
      if (level !== undefined && limited !== undefined) this.#limit(level, limited, shares)
    }
  }

  #limit(level: PriorityLevel, { shares, lendablePercent, borrowingLimitPercent }: LimitedLevel, all: number): void {
    level.nominal =
      this.#total === Number.POSITIVE_INFINITY ? this.#total : Math.max(1, Math.ceil((this.#total * shares) / Math.max(1, all)))
    level.lendable = level.nominal === Number.POSITIVE_INFINITY ? 0 : Math.round((level.nominal * lendablePercent) / 100)
    level.mostBorrowed =
      borrowingLimitPercent === undefined ? Number.POSITIVE_INFINITY : Math.round((level.nominal * borrowingLimitPercent) / 100)
  }
}

/** Whether a level may take so many seats more: its own, or some that others lend and do not use. */
export function hasRoom(level: PriorityLevel, seats: number, levels: Iterable<PriorityLevel>): boolean {
  const after = level.seatsInUse + seats
  if (after <= level.nominal) return true
  if (after - level.nominal > level.mostBorrowed) return false
  let lent = after - level.nominal
  let lendable = 0
  for (const other of levels) {
    if (other === level || other.isExempt) continue
    lent += Math.max(0, other.seatsInUse - other.nominal)
    lendable += Math.min(other.lendable, Math.max(0, other.nominal - other.seatsInUse))
  }
  return lent <= lendable
}
