// Compiles FlowSchemas and PriorityLevelConfigurations. A level keeps its queues and counters when its configuration changes.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type Classify, classifier } from './classify-request.js'
import { CompiledFlowSchema } from './compiled-flow-schema.js'
import { FlowCounter } from './flow-counters.js'
import type { FlowSchemaConfig, LimitedLevel, PriorityLevelConfig } from './flow-schema-config.js'
import { PriorityLevel } from './priority-level.js'

interface FlowObjects {
  readonly schemas: readonly FlowSchemaConfig[]
  readonly levels: readonly PriorityLevelConfig[]
}

export interface FlowConfig {
  readonly classify: Classify<CompiledFlowSchema>
  readonly catchAll: CompiledFlowSchema
  readonly levels: ReadonlyMap<string, PriorityLevel>
}

const catchAllName = 'catch-all'

export class FlowConfigs {
  readonly counters = new Map<string, FlowCounter>()
  readonly #identity: Identity
  readonly #totalSeats: number
  readonly #levels = new Map<string, PriorityLevel>()

  constructor(identity: Identity, totalSeats: number) {
    this.#identity = identity
    this.#totalSeats = totalSeats
  }

  /** Throws if the catch-all schema or its level is missing. */
  compile({ schemas, levels }: FlowObjects): FlowConfig {
    const names = new Set(levels.map(({ name }) => name))
    for (const name of this.#levels.keys()) if (!names.has(name)) this.#levels.delete(name)
    for (const config of levels) getOrInsert(this.#levels, config.name, () => new PriorityLevel(config.name)).configure(config)
    this.#assignSeats(levels)
    const compiled = schemas.flatMap((config) => {
      const level = this.#levels.get(config.level)
      return level === undefined ? [] : [{ config, schema: this.#compileSchema(config, level) }]
    })
    this.#forgetCounters(new Set(compiled.map(({ schema }) => schema.counter)))
    const catchAll = compiled.find(({ config }) => config.name === catchAllName)?.schema
    if (catchAll === undefined) throw new Error(`the FlowSchema ${catchAllName} or its priority level is missing`)
    return { classify: classifier(compiled), catchAll, levels: new Map(this.#levels) }
  }

  #compileSchema(config: FlowSchemaConfig, level: PriorityLevel): CompiledFlowSchema {
    const counter = getOrInsert(this.counters, `${config.name}/${level.name}`, () => new FlowCounter(config.name, level.name))
    return new CompiledFlowSchema(config, { level, counter, identity: this.#identity })
  }

  /** Drops counters of deleted schemas without open requests, because any number of schemas may be created and deleted. */
  #forgetCounters(inUse: ReadonlySet<FlowCounter>): void {
    for (const [key, counter] of this.counters) if (!inUse.has(counter) && counter.isIdle) this.counters.delete(key)
  }

  #assignSeats(configs: readonly PriorityLevelConfig[]): void {
    const shares = configs.reduce((sum, { limited }) => sum + (limited?.shares ?? 0), 0)
    for (const { name, limited } of configs) {
      const level = this.#levels.get(name)
      if (level !== undefined && limited !== undefined) this.#setLimits(level, limited, shares)
    }
  }

  #setLimits(level: PriorityLevel, { shares, lendablePercent, borrowingLimitPercent }: LimitedLevel, totalShares: number): void {
    level.nominal =
      this.#totalSeats === Number.POSITIVE_INFINITY
        ? this.#totalSeats
        : Math.max(1, Math.ceil((this.#totalSeats * shares) / Math.max(1, totalShares)))
    level.lendable = level.nominal === Number.POSITIVE_INFINITY ? 0 : Math.round((level.nominal * lendablePercent) / 100)
    level.maxBorrowed =
      borrowingLimitPercent === undefined ? Number.POSITIVE_INFINITY : Math.round((level.nominal * borrowingLimitPercent) / 100)
  }
}

/** True if the level has enough free seats, its own or borrowed from other levels. */
export function hasFreeSeats(level: PriorityLevel, seats: number, levels: Iterable<PriorityLevel>): boolean {
  const after = level.seatsInUse + seats
  if (after <= level.nominal) return true
  if (after - level.nominal > level.maxBorrowed) return false
  let lent = after - level.nominal
  let lendable = 0
  for (const other of levels) {
    if (other === level || other.isExempt) continue
    lent += Math.max(0, other.seatsInUse - other.nominal)
    lendable += Math.min(other.lendable, Math.max(0, other.nominal - other.seatsInUse))
  }
  return lent <= lendable
}
