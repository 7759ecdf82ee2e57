// What the source of a persistent volume has when it does not say; also where such a source stands in an attachment.

import { withChanged, withMissing } from './pod-spec/missing-members.js'
import { roundedResources } from './pod-spec/quantities.js'
import type { PersistentVolumeSource, PersistentVolumeSpec } from './v1.schema.js'

const sourceDefaults: { readonly [Name in keyof PersistentVolumeSource]?: PersistentVolumeSource[Name] } = {
  hostPath: { type: '' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  iscsi: { iscsiInterface: 'default' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
}
const namesWithDefaults = Object.keys(sourceDefaults) as readonly (keyof PersistentVolumeSource)[]

export function withVolumeSpecDefaults(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  let next = withChanged(spec, 'capacity', roundedResources)
  for (const name of namesWithDefaults) {
    if (next[name] !== undefined) next = withChanged(next, name, (source) => withMissing(source, sourceDefaults[name] as typeof source))
  }
  return next
}
