// A flow schema as requests see it: where they go, how flows are told apart, and what is counted of them.

import type { Identity } from '../../api/identity.js'
import { Histogram } from '../../base/histogram.js'
import type { Exchange } from '../exchange.js'
import type { FlowSchemaObject } from './flow-objects.js'
import type { PriorityLevel } from './priority-level.js'
import { dealHand, flowHash } from './shuffle-shard.js'

const waitBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const executionBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

/** What is counted of a schema and its level, as long as they are there or have requests. */
export class FlowTally {
  readonly schema: string
  readonly level: string
  dispatched = 0
  waiting = 0
  executing = 0
  seatsInUse = 0
  readonly rejected = new Map<string, number>()
  readonly waits = new Histogram(waitBounds)
  readonly refusedWaits = new Histogram(waitBounds)
  readonly executions = new Histogram(executionBounds)

  constructor(schema: string, level: string) {
    this.schema = schema
    this.level = level
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.executing === 0
  }

  countRefusal(reason: string): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
  }
}

/** Of a schema that says nothing. What a cluster itself runs on comes before it. */
const usualPrecedence = 1000

/** More flows than this are dealt anew. */
const mostHands = 4_096
/** Those of longer names are dealt anew for each request: names are others' words, and nothing else bounds what is kept of them. */
const longestKept = 256

export class Flow {
  readonly name: string
  readonly level: PriorityLevel
  readonly tally: FlowTally
  /** Whether its requests can wait when the server is late: those of schemas that do not come before the usual ones. */
  readonly isLow: boolean
  /** Names and values in turn, for answers. */
  readonly headers: readonly string[]
  readonly #distinguisher: FlowSchemaObject['distinguisher']
  readonly #hands = new Map<string, readonly number[]>()

  constructor(object: FlowSchemaObject, { level, tally, identity }: { level: PriorityLevel; tally: FlowTally; identity: Identity }) {
    this.name = object.name
    this.isLow = object.precedence >= usualPrecedence
    this.level = level
    this.tally = tally
    this.#distinguisher = object.distinguisher
    const brand = identity.self[0]?.toUpperCase() + identity.self.slice(1)
    this.headers = [`X-${brand}-PF-FlowSchema-UID`, object.uid, `X-${brand}-PF-PriorityLevel-UID`, level.uid]
  }

  distinguisherOf({ user, info }: Exchange): string {
    if (this.#distinguisher === 'ByUser') return user.name
    return this.#distinguisher === 'ByNamespace' ? info.namespace : ''
  }

  /** The queues of the level that are for a flow. */
  handOf(distinguisher: string): readonly number[] {
    const queuing = this.level.limited?.queuing
    if (queuing === undefined) return firstQueue
    const known = this.#hands.get(distinguisher)
    if (known !== undefined) return known
    const hand = dealHand(flowHash(this.name, distinguisher), { deckSize: queuing.queues, handSize: queuing.handSize })
    if (distinguisher.length > longestKept) return hand
    if (this.#hands.size >= mostHands) this.#hands.clear()
    // A copy: a part of a path keeps all of the path.
    this.#hands.set(Buffer.from(distinguisher).toString(), hand)
    return hand
  }
}

const firstQueue: readonly number[] = [0]
