// The two fields that say with what a new volume is filled: the older one takes claims and snapshots only, the newer one anything.

import type { RuleContext } from '../../api/definition.js'
import type { Identity } from '../../api/identity.js'
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference } from './v1.schema.js'

/** The spec as it is kept: what cannot be used is dropped silently, as it always was, and each field repeats the other. */
export function withDataSources(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
  { gates, identity }: RuleContext,
): PersistentVolumeClaimSpec {
  if (spec.dataSource === undefined && spec.dataSourceRef === undefined) return spec
  const isRefInUse = old?.dataSourceRef !== undefined
  const isForeign = (spec.dataSourceRef?.namespace ?? '') !== ''
  const isRefUsable = isRefInUse || (gates('AnyVolumeDataSource') && (!isForeign || gates('CrossNamespaceVolumeDataSource')))
  const reference = isRefUsable ? spec.dataSourceRef : undefined
  const keepsSource = old?.dataSource !== undefined || isRefInUse || reference !== undefined || isClaimOrSnapshot(spec.dataSource, identity)
  const source = keepsSource ? spec.dataSource : undefined
  const { dataSource, dataSourceRef, ...rest } = spec
  return { ...rest, ...(gates('AnyVolumeDataSource') ? mirrored(source, reference) : present(source, reference)) }
}

function isClaimOrSnapshot(source: TypedLocalObjectReference | undefined, identity: Identity): boolean {
  const { apiGroup = '', kind } = source ?? {}
  return (
    (apiGroup === '' && kind === 'PersistentVolumeClaim') ||
    (apiGroup === identity.group({ stem: 'snapshot.storage' }) && kind === 'VolumeSnapshot')
  )
}

type Sources = Pick<PersistentVolumeClaimSpec, 'dataSource' | 'dataSourceRef'>

const present = (dataSource: TypedLocalObjectReference | undefined, dataSourceRef: TypedObjectReference | undefined): Sources => ({
  ...(dataSource === undefined ? {} : { dataSource }),
  ...(dataSourceRef === undefined ? {} : { dataSourceRef }),
})

/** A source in another namespace is beyond what the older field can say. */
function mirrored(source: TypedLocalObjectReference | undefined, reference: TypedObjectReference | undefined): Sources {
  if (reference === undefined || source !== undefined) return present(source, reference ?? source)
  const { namespace = '', ...local } = reference
  return present(namespace === '' ? local : undefined, reference)
}
