// VolumeZone: volumes with labels of a zone or region must be in the node's.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { classNameOf } from '../../persistent-volume/volume-annotations.js'
import { type Plugin, type Refusal, refuseFinally } from './plugin.js'

const refusal = refuseFinally('node(s) had no available volume zone')

/** Current and old name of each label. */
const zoneLabels = (identity: Identity): readonly (readonly [string, string])[] =>
  ['zone', 'region'].map((name) => [identity.label(name, 'topology'), identity.label(name, 'failure-domain.beta')] as const)

export const volumeZone: Plugin = {
  name: 'VolumeZone',
  prepare: ({ shape: { claims, namespace } }, { volumes, identity }) => {
    if (claims.length === 0) return undefined
    const labels = zoneLabels(identity)
    const wanted: (readonly [number, ReadonlySet<string>])[] = []
    let problem: Refusal | undefined
    for (const name of claims) {
      const claim = volumes.claim(namespace, name)
      if (claim === undefined) continue
      const volumeName = claim.spec?.volumeName ?? ''
      if (volumeName !== '') {
        const own = volumes.volume(volumeName)?.metadata?.labels ?? {}
        for (const [i, keys] of labels.entries())
          for (const key of keys) {
            const value = own[key]
            if (value !== undefined) wanted.push([i, new Set(value.split('__'))])
          }
        continue
      }
      const className = classNameOf(identity, claim)
      if (className === '') problem ??= refuseFinally('PersistentVolumeClaim had no pv name and storageClass name')
      else if (volumes.storageClass(className)?.volumeBindingMode !== 'WaitForFirstConsumer')
        problem ??= refuseFinally('PersistentVolume had no name')
    }
    if (wanted.length === 0 && problem === undefined) return undefined
    return {
      filter: (node) => {
        const own = labels.map(([current, old]) => node.labels[current] ?? node.labels[old])
        if (own.every((value) => value === undefined)) return undefined
        return problem ?? (wanted.every(([i, zones]) => zones.has(own[i] ?? '')) ? undefined : refusal)
      },
    }
  },
}
