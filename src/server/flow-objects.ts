// The flow schemas and priority levels of the store, as flow control reads them, kept true by every change as it is committed.

import type { Catalog, Resource } from '../api/catalog.js'
import type { FlowConfigs } from '../http/flow/flow-config.js'
import type { FlowControl } from '../http/flow/flow-control.js'
import type { FlowSchemaObject, LimitedLevel, PriorityLevelObject } from '../http/flow/flow-objects.js'
import type { ObjectStore } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../resources/flowcontrol-apiserver/mandatory.js'
import type {
  FlowSchema,
  FlowSchemaSpec,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '../resources/flowcontrol-apiserver/v1beta3.schema.js'

export class FlowObjectSource {
  readonly #store: ObjectStore
  readonly #schemas: Resource | undefined
  readonly #levels: Resource | undefined

  constructor(store: ObjectStore, catalog: Catalog) {
    this.#store = store
    const group = catalog.identity.group({ stem: 'flowcontrol.apiserver' })
    this.#schemas = catalog.find(group, 'v1beta3', 'flowschemas')
    this.#levels = catalog.find(group, 'v1beta3', 'prioritylevelconfigurations')
  }

  /** Without those that must always be there a request could have no place to go: they are there even before they are stored. */
  read(): { readonly schemas: readonly FlowSchemaObject[]; readonly levels: readonly PriorityLevelObject[] } {
    const schemas = new Map<string, FlowSchemaObject>()
    for (const [name, spec] of mandatoryFlowSchemas) schemas.set(name, schemaOf({ name, uid: '' }, spec as FlowSchemaSpec))
    for (const { metadata, spec } of this.#all<FlowSchema>(this.#schemas))
      schemas.set(metadata?.name ?? '', schemaOf(metadata ?? {}, spec ?? {}))
    const levels = new Map<string, PriorityLevelObject>()
    for (const [name, { type, limited }] of mandatoryPriorityLevels) {
      const { assuredConcurrencyShares, ...rest } = limited ?? {}
      const spec = limited === undefined ? { type } : { type, limited: { ...rest, nominalConcurrencyShares: assuredConcurrencyShares } }
      levels.set(name, levelOf({ name, uid: '' }, spec as PriorityLevelConfigurationSpec))
    }
    for (const { metadata, spec } of this.#all<PriorityLevelConfiguration>(this.#levels))
      levels.set(metadata?.name ?? '', levelOf(metadata ?? {}, spec ?? {}))
    return { schemas: [...schemas.values()], levels: [...levels.values()] }
  }

  /** Calls after every change of one of them, until the function that it returns is called. */
  follow(changed: () => void): () => void {
    const stops = [this.#schemas, this.#levels].flatMap((resource) =>
      resource === undefined ? [] : [this.#store.watch({ resource, namespace: '', matches: undefined, deliver: changed })],
    )
    return () => {
      for (const stop of stops) stop()
    }
  }

  #all<T>(resource: Resource | undefined): readonly T[] {
    if (resource === undefined) return []
    const all: T[] = []
    for (const stored of this.#store.look({ resource, namespace: '', selection: everything })) {
      if (stored === undefined) continue
      const object = stored.decode(resource)
      all.push((resource.fromStored?.(object) ?? object) as T)
    }
    return all
  }
}

interface Named {
  readonly name?: string
  readonly uid?: string
}

function schemaOf({ name = '', uid = '' }: Named, spec: FlowSchemaSpec): FlowSchemaObject {
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

const levelOf = ({ name = '', uid = '' }: Named, { type, limited }: PriorityLevelConfigurationSpec): PriorityLevelObject => ({
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

/** What is stored counts for the next request. Several changes of one turn are read once. */
export function followFlowObjects(source: FlowObjectSource, configs: FlowConfigs, control: FlowControl): () => void {
  let isStale = false
  const renew = (): void => {
    isStale = false
    control.config = configs.make(source.read())
  }
  return source.follow(() => {
    if (isStale) return
    isStale = true
    queueMicrotask(renew)
  })
}
