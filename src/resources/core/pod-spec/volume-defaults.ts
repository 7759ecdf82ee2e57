// What a volume has when it does not say: modes of files, kinds of disks, and an empty folder where it has no source at all.

import type { DownwardAPIVolumeFile, PersistentVolumeClaimSpec, Volume, VolumeProjection, VolumeSource } from '../v1.schema.js'
import { mapItems } from './all-containers.js'
import { withApiVersion, withDivisor, withRoundedResources } from './container-defaults.js'
import { withChanged, withMissing } from './missing-members.js'
import { volumeSourceNames } from './volumes.js'

const fileMode = 0o644
const tokenSeconds = 3600

/** Sources of which single members have defaults. */
const sourceDefaults: { readonly [Name in keyof VolumeSource]?: VolumeSource[Name] } = {
  hostPath: { type: '' },
  secret: { defaultMode: fileMode },
  configMap: { defaultMode: fileMode },
  downwardAPI: { defaultMode: fileMode },
  projected: { defaultMode: fileMode },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
}
const namesWithDefaults = Object.keys(sourceDefaults) as readonly (keyof VolumeSource)[]

export function withVolumeDefaults(volume: Volume): Volume {
  if (!volumeSourceNames.some((name) => volume[name] !== undefined)) return { ...volume, emptyDir: {} }
  let next = volume
  for (const name of namesWithDefaults) {
    if (next[name] !== undefined) next = withChanged(next, name, (source) => withMissing(source, sourceDefaults[name] as typeof source))
  }
  next = withChanged(next, 'downwardAPI', (source) => withChanged(source, 'items', withFileDefaults))
  next = withChanged(next, 'projected', (source) => withChanged(source, 'sources', (sources) => mapItems(sources, withProjectionDefaults)))
  return withChanged(next, 'ephemeral', (source) =>
    withChanged(source, 'volumeClaimTemplate', (template) => withChanged(withMissing(template, { spec: {} }), 'spec', withClaimDefaults)),
  )
}

const withFileDefaults = (files: readonly DownwardAPIVolumeFile[]): readonly DownwardAPIVolumeFile[] =>
  mapItems(files, (file) => withChanged(withChanged(file, 'fieldRef', withApiVersion), 'resourceFieldRef', withDivisor))

const withProjectionDefaults = (projection: VolumeProjection): VolumeProjection =>
  withChanged(
    withChanged(projection, 'serviceAccountToken', (token) => withMissing(token, { expirationSeconds: tokenSeconds })),
    'downwardAPI',
    (source) => withChanged(source, 'items', withFileDefaults),
  )

/** A claim is for a file system unless it says otherwise. */
export const withClaimDefaults = (spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec =>
  withChanged(withMissing(spec, { volumeMode: 'Filesystem' }), 'resources', withRoundedResources)
