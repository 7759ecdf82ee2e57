// Description of volumes in pods and pod templates.

import type { Pod } from '@cluster-apiserver/client/typed/types.js'
import { textOr } from './common-fields.js'
import { type Entry, heading, none } from './description.js'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

export function volumeEntries(volumes: readonly Volume[] | undefined, isTemplate = false): readonly Entry[] {
  const [nameIndent, fieldIndent] = isTemplate ? [1, 1] : [2, 2]
  return volumes === undefined || volumes.length === 0
    ? [['Volumes', none]]
    : [
        [
          'Volumes',
          heading(
            volumes.map((volume): Entry => [volume.name ?? '', heading(sourceEntries(volume), fieldIndent)]),
            nameIndent,
          ),
        ],
      ]
}

export function sourceEntries(volume: Volume): readonly Entry[] {
  const { hostPath, emptyDir, secret, configMap, persistentVolumeClaim: claim, projected, nfs, downwardAPI, csi } = volume
  if (hostPath !== undefined)
    return [
      ['Type', 'HostPath (bare host directory volume)'],
      ['Path', hostPath.path ?? ''],
      ['HostPathType', hostPath.type ?? ''],
    ]
  if (emptyDir !== undefined)
    return [
      ['Type', "EmptyDir (a temporary directory that shares a pod's lifetime)"],
      ['Medium', emptyDir.medium ?? ''],
      ['SizeLimit', textOr(emptyDir.sizeLimit, '<unset>')],
    ]
  if (secret !== undefined)
    return [
      ['Type', 'Secret (a volume populated by a Secret)'],
      ['SecretName', secret.secretName ?? ''],
      ['Optional', String(secret.optional ?? false)],
    ]
  if (configMap !== undefined)
    return [
      ['Type', 'ConfigMap (a volume populated by a ConfigMap)'],
      ['Name', configMap.name ?? ''],
      ['Optional', String(configMap.optional ?? false)],
    ]
  if (claim !== undefined)
    return [
      ['Type', 'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)'],
      ['ClaimName', claim.claimName ?? ''],
      ['ReadOnly', String(claim.readOnly ?? false)],
    ]
  if (projected !== undefined)
    return [
      ['Type', 'Projected (a volume that contains injected data from multiple sources)'],
      ...(projected.sources ?? []).flatMap((source): readonly Entry[] => {
        if (source.secret !== undefined)
          return [
            ['SecretName', source.secret.name ?? ''],
            ['SecretOptionalName', textOr(source.secret.optional, '<nil>')],
          ]
        if (source.downwardAPI !== undefined) return [['DownwardAPI', 'true']]
        if (source.configMap !== undefined)
          return [
            ['ConfigMapName', source.configMap.name ?? ''],
            ['ConfigMapOptional', textOr(source.configMap.optional, '<nil>')],
          ]
        return [['TokenExpirationSeconds', textOr(source.serviceAccountToken?.expirationSeconds, '3600')]]
      }),
    ]
  if (nfs !== undefined)
    return [
      ['Type', 'NFS (an NFS mount that lasts the lifetime of a pod)'],
      ['Server', nfs.server ?? ''],
      ['Path', nfs.path ?? ''],
      ['ReadOnly', String(nfs.readOnly ?? false)],
    ]
  if (downwardAPI !== undefined)
    return [
      ['Type', 'DownwardAPI (a volume populated by information about the pod)'],
      [
        'Items',
        {
          lines: (downwardAPI.items ?? []).map(({ fieldRef, resourceFieldRef, path = '' }) => [
            `${fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? ''} -> ${path}`,
          ]),
        },
      ],
    ]
  if (csi !== undefined)
    return [
      ['Type', 'CSI (a Container Storage Interface (CSI) volume source)'],
      ['Driver', csi.driver ?? ''],
      ['FSType', csi.fsType ?? ''],
      ['ReadOnly', String(csi.readOnly ?? false)],
    ]
  return otherSource(volume)
}

function otherSource({ name: _, ...sources }: { readonly name?: string | undefined }): readonly Entry[] {
  const [[type, source] = ['', {}]] = Object.entries(sources).filter(([, value]) => value !== undefined)
  const fields = Object.entries(source as object).filter(([, value]) => value !== undefined && value !== null)
  const entries = fields.map(([key, value]): Entry => [key, typeof value === 'object' ? JSON.stringify(value) : String(value)])
  return [['Type', type], ...entries]
}
