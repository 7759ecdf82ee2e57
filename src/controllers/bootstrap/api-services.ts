// An API service for every version of every group that this server answers itself; at a start, those for what it no longer serves go.

import type { Catalog } from '../../api/catalog.js'
import { sameValue } from '../../api/validation/same-value.js'
import { partsOf } from '../../objects/keys.js'
import { everything } from '../../objects/selection.js'
import type { APIService } from '../../resources/apiregistration/v1.schema.js'
import type { Engine } from '../../verbs/engine.js'
import type { Wanted } from './wanted.js'

/** The order of groups, and within a group of versions: the greater comes first. By the group's name without its suffix. */
const priorities: { readonly [group: string]: readonly [number, { readonly [version: string]: number }] } = {
  '': [18000, { v1: 1 }],
  apps: [17800, {}],
  events: [17750, {}],
  authentication: [17700, { v1alpha1: 1 }],
  authorization: [17600, {}],
  autoscaling: [17500, { v1: 15, v2: 30 }],
  batch: [17400, {}],
  certificates: [17300, {}],
  networking: [17200, { v1alpha1: 1 }],
  policy: [17100, {}],
  'rbac.authorization': [17000, {}],
  storage: [16800, {}],
  apiextensions: [16700, {}],
  admissionregistration: [16700, {}],
  scheduling: [16600, {}],
  coordination: [16500, {}],
  node: [16300, {}],
  discovery: [16200, {}],
  'flowcontrol.apiserver': [16100, { v1beta2: 15, v1beta3: 18 }],
  'internal.apiserver': [16000, {}],
  resource: [15900, {}],
}

/** Versions that the table says nothing of: stable ones before the others. */
const usualPriority = (version: string): number => (/^v\d+$/.test(version) ? 15 : 9)

const group = { stem: 'apiregistration' }

/** The label of those that are kept as they are wanted all the time, and not at a start alone. */
export const keptLabel = 'true'

export const automanagedLabel = ({ identity }: Catalog): string => identity.label('automanaged', identity.prefixed('aggregator'))

export function apiServices(catalog: Catalog): readonly Wanted[] {
  const { identity } = catalog
  const own = identity.group(group)
  const label = automanagedLabel(catalog)
  return catalog.groupVersions().flatMap(({ group: name, version }) => {
    // Those of custom kinds come and go with their definitions (aggregation/register-custom).
    if (name === own || catalog.isCustomGroup(name)) return []
    const stem = Object.keys(priorities).find((known) => name === known || name === identity.group({ stem: known })) ?? name
    const [groupPriorityMinimum, byVersion] = priorities[stem] ?? [1000, {}]
    const versionPriority = byVersion[version] ?? usualPriority(version)
    const spec = { ...(name === '' ? {} : { group: name }), version, groupPriorityMinimum, versionPriority }
    const object: APIService = { metadata: { name: `${version}.${name}`, labels: { [label]: 'onstart' } }, spec }
    return [
      { group, version: 'v1', resource: 'apiservices', shape: name === '' ? 'core' : 'named', object, reconcile: reconcileWith(label) },
    ]
  })
}

/** One that somebody put in its place, without the label, is left as it is. */
const reconcileWith =
  (label: string) =>
  (stored: APIService, wanted: APIService): APIService =>
    stored.metadata?.labels?.[label] === undefined || sameValue(stored.spec, wanted.spec) || wanted.spec === undefined
      ? stored
      : { ...stored, spec: wanted.spec }

/** Those that an earlier start made for versions that are served no longer. */
export async function removeStale(engine: Engine, catalog: Catalog): Promise<void> {
  const resource = catalog.find(catalog.identity.group(group), 'v1', 'apiservices')
  if (resource === undefined) return
  const wanted = new Set(apiServices(catalog).map(({ object }) => object.metadata?.name))
  const label = automanagedLabel(catalog)
  const stored = engine.store.list({ resource, namespace: '', selection: everything, limit: 0 }).objects()
  const stale = [...stored].filter((object) => object.labels()?.[label] === 'onstart' && !wanted.has(partsOf(resource, object.key).name))
  await Promise.all(stale.map((object) => engine.store.remove(object)))
}
