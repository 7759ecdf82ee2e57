// Creates priority and fairness from the settings and the stored flow schemas and priority levels.

import type { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
} from '@cluster-apiserver/api/resources/flowcontrol-apiserver/mandatory-flow-schemas.js'
import type {
  FlowSchema,
  FlowSchemaSpec,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta3.schema.js'
import type { EventLoopLag } from '../flow-control/event-loop-lag.js'
import type { MemoryPressure } from '../flow-control/memory-pressure.js'
import { FlowConfigs } from '../flow-control/priority-and-fairness/flow-config.js'
import type { FlowSchemaConfig, LimitedLevel, PriorityLevelConfig } from '../flow-control/priority-and-fairness/flow-schema-config.js'
import { PriorityAndFairness } from '../flow-control/priority-and-fairness/priority-and-fairness.js'
import type { FlowRequest } from '../flow-control/request.js'
import { decodeOnce } from '../objects/entry/stored-object.js'
import { everything } from '../objects/list/selection.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { Engine } from '../verbs/engine.js'
import type { StartContext } from './start-context.js'

export interface FlowControlParts {
  readonly control: PriorityAndFairness
  readonly configs: FlowConfigs
}

interface FlowDependencies {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly pressure: MemoryPressure
  readonly lag: EventLoopLag
}

export function createFlowControl(
  { settings, cleanup }: StartContext,
  { engine, catalogs, pressure, lag }: FlowDependencies,
): FlowControlParts {
  const { readingInFlight, mutatingInFlight } = settings.limits
  const total = readingInFlight + mutatingInFlight || Number.POSITIVE_INFINITY
  const source = new FlowObjectSource(engine.store, catalogs.current)
  const configs = new FlowConfigs(settings.identity, total)
  const control = new PriorityAndFairness({
    pressure,
    lag,
    config: configs.compile(source.read()),
    countOf: objectCounts(engine, catalogs),
    // As in kube-apiserver.
    maxWaitMs: settings.timeouts.requestMs / 4,
  })
  cleanup.add(followFlowObjects(source, configs, control))
  cleanup.add(() => control.close())
  return { control, configs }
}

const countTtlMs = 5_000

function objectCounts({ store }: Engine, catalogs: CatalogSource): (request: FlowRequest) => number {
  const counts = new WeakMap<Resource, { readonly atMs: number; readonly count: number }>()
  return ({ info, begunMs }) => {
    const resource = catalogs.current.find(info.group, info.version, info.resource)
    if (resource === undefined || resource.definition.computed !== undefined || resource.definition.review !== undefined) return 0
    const cached = counts.get(resource)
    if (cached !== undefined && begunMs - cached.atMs < countTtlMs) return cached.count
    const count = store.count(resource, '')
    counts.set(resource, { atMs: begunMs, count })
    return count
  }
}

class FlowObjectSource {
  readonly #store: ObjectStore
  readonly #schemas: Resource | undefined
  readonly #levels: Resource | undefined

  constructor(store: ObjectStore, catalog: Catalog) {
    this.#store = store
    const group = catalog.identity.group({ stem: 'flowcontrol.apiserver' })
    this.#schemas = catalog.find(group, 'v1beta3', 'flowschemas')
    this.#levels = catalog.find(group, 'v1beta3', 'prioritylevelconfigurations')
  }

  /** Reads the stored objects; mandatory ones that are not stored yet are added. */
  read(): { readonly schemas: readonly FlowSchemaConfig[]; readonly levels: readonly PriorityLevelConfig[] } {
    const schemas = new Map<string, FlowSchemaConfig>()
    for (const [name, spec] of mandatoryFlowSchemas) schemas.set(name, schemaOf({ name, uid: '' }, spec as FlowSchemaSpec))
    for (const { metadata, spec } of this.#readAll<FlowSchema>(this.#schemas))
      schemas.set(metadata?.name ?? '', schemaOf(metadata ?? {}, spec ?? {}))
    const levels = new Map<string, PriorityLevelConfig>()
    for (const [name, { type, limited }] of mandatoryPriorityLevels) {
      const { assuredConcurrencyShares, ...rest } = limited ?? {}
      const spec = limited === undefined ? { type } : { type, limited: { ...rest, nominalConcurrencyShares: assuredConcurrencyShares } }
      levels.set(name, levelOf({ name, uid: '' }, spec as PriorityLevelConfigurationSpec))
    }
    for (const { metadata, spec } of this.#readAll<PriorityLevelConfiguration>(this.#levels))
      levels.set(metadata?.name ?? '', levelOf(metadata ?? {}, spec ?? {}))
    return { schemas: [...schemas.values()], levels: [...levels.values()] }
  }

  /** Calls back after every change. Returns the function that unsubscribes. */
  follow(onChange: () => void): () => void {
    const stops = [this.#schemas, this.#levels].flatMap((resource) =>
      resource === undefined ? [] : [this.#store.watch({ resource, namespace: '', matches: undefined, deliver: onChange })],
    )
    return () => {
      for (const stop of stops) stop()
    }
  }

  #readAll<T>(resource: Resource | undefined): readonly T[] {
    if (resource === undefined) return []
    const all: T[] = []
    for (const stored of this.#store.readInSteps({ resource, namespace: '', selection: everything })) {
      if (stored === undefined) continue
      const object = decodeOnce(stored, resource)
      all.push((resource.fromStored?.(object) ?? object) as T)
    }
    return all
  }
}

interface NameAndUid {
  readonly name?: string
  readonly uid?: string
}

function schemaOf({ name = '', uid = '' }: NameAndUid, spec: FlowSchemaSpec): FlowSchemaConfig {
  const method = spec.distinguisherMethod?.type
  return {
    name,
    uid,
    level: spec.priorityLevelConfiguration?.name ?? '',
    precedence: spec.matchingPrecedence ?? 0,
    distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : undefined,
    rules: spec.rules ?? [],
  }
}

const levelOf = ({ name = '', uid = '' }: NameAndUid, { type, limited }: PriorityLevelConfigurationSpec): PriorityLevelConfig => ({
  name,
  uid,
  limited: type === 'Exempt' ? undefined : limitsOf(limited ?? {}),
})

function limitsOf(limited: NonNullable<PriorityLevelConfigurationSpec['limited']>): LimitedLevel {
  const { type, queuing } = limited.limitResponse ?? {}
  return {
    shares: limited.nominalConcurrencyShares ?? 0,
    lendablePercent: limited.lendablePercent ?? 0,
    borrowingLimitPercent: limited.borrowingLimitPercent,
    queuing:
      type === 'Queue'
        ? {
            queues: Math.max(1, queuing?.queues ?? 1),
            handSize: Math.max(1, queuing?.handSize ?? 1),
            queueLengthLimit: queuing?.queueLengthLimit ?? 0,
          }
        : undefined,
  }
}

/** Compiles the flow configuration once after several changes in one event-loop turn. */
function followFlowObjects(source: FlowObjectSource, configs: FlowConfigs, control: PriorityAndFairness): () => void {
  let isStale = false
  const reload = (): void => {
    isStale = false
    control.config = configs.compile(source.read())
  }
  return source.follow(() => {
    if (isStale) return
    isStale = true
    queueMicrotask(reload)
  })
}
