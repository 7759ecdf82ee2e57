// APIServices of the built-in API versions, not of CRDs. A start deletes APIServices of versions that are no longer built in.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { APIService } from '@cluster-apiserver/api/resources/apiregistration/v1.schema.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import type { Engine } from '../../verbs/engine.js'
import { apiServicePriorities } from './data/api-service-priorities.js'
import type { WantedObject } from './ensure-objects.js'

const defaultVersionPriority = (version: string): number => (/^v\d+$/.test(version) ? 15 : 9)

const registrationGroup = { stem: 'apiregistration' }

/** Value of the automanaged label for APIServices of CRDs, reconciled continuously; APIServices of built-in versions have `onstart`. */
export const managedLabelValue = 'true'

export const automanagedLabel = ({ identity }: Catalog): string => identity.label('automanaged', identity.prefixed('aggregator'))

export function apiServiceDefaults(catalog: Catalog): readonly WantedObject[] {
  const { identity } = catalog
  const ownGroup = identity.group(registrationGroup)
  const label = automanagedLabel(catalog)
  return catalog.groupVersions().flatMap(({ group: name, version }) => {
    if (name === ownGroup || catalog.isCustomGroup(name)) return []
    const stem = Object.keys(apiServicePriorities).find((known) => name === known || name === identity.group({ stem: known })) ?? name
    const [groupPriorityMinimum, byVersion] = apiServicePriorities[stem] ?? [1000, {}]
    const versionPriority = byVersion[version] ?? defaultVersionPriority(version)
    const spec = { ...(name === '' ? {} : { group: name }), version, groupPriorityMinimum, versionPriority }
    const object: APIService = { metadata: { name: `${version}.${name}`, labels: { [label]: 'onstart' } }, spec }
    return [
      {
        group: registrationGroup,
        version: 'v1',
        resource: 'apiservices',
        shape: name === '' ? 'core' : 'named',
        object,
        reconcile: reconcileWith(label),
      },
    ]
  })
}

/** Keeps an APIService without the label, which a client has created, and one that leads to a metrics server. */
const reconcileWith =
  (label: string) =>
  (stored: APIService, wanted: APIService): APIService =>
    stored.metadata?.labels?.[label] === undefined ||
    isMetricsServer(stored) ||
    sameValue(stored.spec, wanted.spec) ||
    wanted.spec === undefined
      ? stored
      : { ...stored, spec: wanted.spec }

const isMetricsServer = ({ spec }: APIService): boolean => spec?.service !== undefined && spec.group?.startsWith('metrics.') === true

export async function deleteStaleApiServices(engine: Engine, catalog: Catalog): Promise<void> {
  const resource = catalog.find(catalog.identity.group(registrationGroup), 'v1', 'apiservices')
  if (resource === undefined) return
  const wanted = new Set(apiServiceDefaults(catalog).map(({ object }) => object.metadata?.name))
  const label = automanagedLabel(catalog)
  const stored = engine.store.readAll({ resource, namespace: '', selection: everything, limit: 0 }).objects()
  const stale = [...stored].filter(
    (object) =>
      object.labels()?.[label] === 'onstart' &&
      !wanted.has(partsOf(resource, object.key).name) &&
      !isMetricsServer(object.decode(resource) as APIService),
  )
  await Promise.all(stale.map((object) => engine.store.remove(object)))
}
