// Volumes that were made by a program in a zone stay bound to it: their labels become a rule for nodes. This server asks no cloud, so that volumes
// without labels get none.

import type { ApiObject } from '../../api/object.js'
import type { PersistentVolume } from '../../resources/core/v1.schema.js'
import type { Plugin } from '../admission.js'

type Term = {
  readonly matchExpressions?: readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[]
}

export const persistentVolumeLabel: Plugin = {
  name: 'PersistentVolumeLabel',
  collections: ['persistentvolumes'],
  mutate: ({ operation, subresource, object, identity }) => {
    if (operation !== 'CREATE' || subresource !== '' || object === undefined) return undefined
    const volume = object as PersistentVolume
    const labels = volume.metadata?.labels ?? {}
    const isProvisioned = volume.metadata?.annotations?.[identity.label('provisioned-by', 'pv')] !== undefined
    const places = ['topology', 'failure-domain.beta'].map((domain) => [identity.label('zone', domain), identity.label('region', domain)])
    const keys = places.find((names) => names.every((name) => labels[name] !== undefined))
    if (!isProvisioned || keys === undefined) return undefined
    // Several zones of one volume stand in one label.
    const wanted = keys.map((key) => ({ key, operator: 'In', values: (labels[key] ?? '').split('__') }))
    const terms = (volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []) as readonly Term[]
    if (terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ key = '' }) => keys.includes(key)))) return undefined
    const nodeSelectorTerms =
      terms.length === 0
        ? [{ matchExpressions: wanted }]
        : terms.map((term) => ({ ...term, matchExpressions: [...(term.matchExpressions ?? []), ...wanted] }))
    return { ...volume, spec: { ...volume.spec, nodeAffinity: { required: { nodeSelectorTerms } } } } as ApiObject
  },
}
