// Keys of Services that a change of a Service or of a pod queues. Keeps the selectors of the Services, as pods change often.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type CompiledLabelSelector, fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { Pod, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { Run, Source, SourceEvent } from '../../framework/controller.js'
import type { WorkloadParts } from '../kit/workload-parts.js'
import { changesEndpoint, hasPods } from './service-pods.js'

/** Services of one namespace with the same selector. */
interface SelectorGroup {
  readonly selector: CompiledLabelSelector
  readonly keys: Set<string>
}

export class ServiceSelectors {
  /** Groups by namespace and by the text of the selector: a pod is matched with each selector once. */
  readonly #byNamespace = new Map<string, Map<string, SelectorGroup>>()
  /** Text of the selector by key of the Service. */
  readonly #texts = new Map<string, string>()

  /** Sources of a controller with keys `<namespace>/<name>` of Services. */
  sources(services: Resource, pods: Resource): readonly Source[] {
    return [
      { resource: services, namespace: '', keyOf: (stored, eventType) => this.#serviceKey(services, stored, eventType) },
      {
        resource: pods,
        namespace: '',
        onlyChanges: true,
        keyOf: (stored, type, previous) => this.#keysOfPod(pods, stored, { type, previous }),
      },
    ]
  }

  #serviceKey(services: Resource, stored: StoredObject, eventType: SourceEvent): string {
    const { namespace, name } = partsOf(services, stored.key)
    const key = `${namespace}/${name}`
    const service = stored.decode(services) as Service
    this.#remove(namespace, key)
    if (eventType === 'DELETED' || !hasPods(service)) return key
    const text = JSON.stringify(service.spec?.selector)
    const groups = getOrInsert(this.#byNamespace, namespace, () => new Map<string, SelectorGroup>())
    getOrInsert(groups, text, () => ({ selector: selectorOf(service), keys: new Set() })).keys.add(key)
    this.#texts.set(key, text)
    return key
  }

  #remove(namespace: string, key: string): void {
    const text = this.#texts.get(key)
    const groups = this.#byNamespace.get(namespace)
    if (text === undefined || groups === undefined) return
    this.#texts.delete(key)
    const keys = groups.get(text)?.keys
    keys?.delete(key)
    if (keys?.size === 0) groups.delete(text)
    if (groups.size === 0) this.#byNamespace.delete(namespace)
  }

  #keysOfPod(pods: Resource, stored: StoredObject, { type, previous }: PodEvent): readonly string[] {
    const { namespace } = partsOf(pods, stored.key)
    const groups = this.#byNamespace.get(namespace)
    if (groups === undefined) return []
    const hasSameLabels = previous !== undefined && sameValue(stored.labels() ?? {}, previous.labels() ?? {})
    const states = previous === undefined || hasSameLabels ? [stored] : [stored, previous]
    const labels = states.map((state) => state.labels())
    const found = [...groups.values()].filter(({ selector }) => labels.some((each) => selector.matches(each)))
    if (found.length === 0) return []
    if (type === 'MODIFIED' && hasSameLabels) if (!changesEndpoint(previous.decode(pods) as Pod, stored.decode(pods) as Pod)) return []
    return found.flatMap(({ keys }) => [...keys])
  }
}

interface PodEvent {
  readonly type: SourceEvent
  readonly previous: StoredObject | undefined
}

const selectorOf = ({ spec }: Service): CompiledLabelSelector => fromSelectorObject({ matchLabels: spec?.selector ?? {} })

/** Pods that the Service selects, in the order of their names. */
export async function podsOfService(
  { engine: { store } }: WorkloadParts,
  { service, pods: resource }: { readonly service: Service; readonly pods: Resource },
  { budget }: Run,
): Promise<readonly Pod[]> {
  const found: Pod[] = []
  const selection = { labels: selectorOf(service), fields: undefined }
  for (const stored of store.readAll({ resource, namespace: service.metadata?.namespace ?? '', selection, limit: 0 }).objects()) {
    found.push(stored.decode(resource) as Pod)
    await budget.yieldIfSpent()
  }
  return found
}
