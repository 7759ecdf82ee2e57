// DefaultStorageClass, DefaultIngressClass, PersistentVolumeClaimResize, PersistentVolumeLabel and StorageObjectInUseProtection plugins.

import { forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { PersistentVolume } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { compareQuantities, parseQuantity } from '@cluster-apiserver/api/schema/quantity.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { Lookup } from '../lookup.js'

interface Ingress extends ApiObject {
  readonly spec?: { readonly ingressClassName?: string }
}

const storageClasses = { group: { stem: 'storage' } as GroupName, version: 'v1', resource: 'storageclasses' }
const ingressClasses = { group: { stem: 'networking' } as GroupName, version: 'v1', resource: 'ingressclasses' }
const ingresses = { group: { stem: 'networking' } as GroupName, version: 'v1', resource: 'ingresses' }

const isCreate = (request: AdmissionRequest, collection: string | undefined): boolean =>
  request.operation === 'CREATE' && request.subresource === '' && request.resource.collection === collection

function defaultClasses(lookup: Lookup, name: typeof storageClasses, annotations: readonly string[]): readonly ApiObject[] {
  return lookup
    .list(name)
    .filter(({ metadata }) => annotations.some((annotation) => metadata?.annotations?.[annotation] === 'true'))
    .sort((a, b) => compare(b.metadata?.creationTimestamp, a.metadata?.creationTimestamp) || compare(a.metadata?.name, b.metadata?.name))
}

const compare = (a = '', b = ''): number => compareText(a, b)

export const defaultStorageClass = (lookup: Lookup): Plugin => ({
  name: 'DefaultStorageClass',
  collections: ['persistentvolumeclaims'],
  mutate: async (request) => {
    if (!isCreate(request, 'persistentvolumeclaims')) return request.object
    const claim = request.object as Claim
    const { identity } = request
    const hasClass =
      claim.spec?.storageClassName !== undefined ||
      claim.metadata?.annotations?.[identity.label('storage-class', 'volume.beta')] !== undefined
    if (hasClass) return claim
    const [newest] = defaultClasses(lookup, storageClasses, [
      identity.label('is-default-class', 'storageclass'),
      identity.label('is-default-class', 'storageclass.beta'),
    ])
    return newest === undefined ? claim : ({ ...claim, spec: { ...claim.spec, storageClassName: newest.metadata?.name } } as ApiObject)
  },
})

export const defaultIngressClass = (lookup: Lookup): Plugin => ({
  name: 'DefaultIngressClass',
  collections: [lookup.resource(ingresses)?.collection ?? ''],
  mutate: async (request) => {
    if (!isCreate(request, lookup.resource(ingresses)?.collection)) return request.object
    const ingress = request.object as Ingress
    const { identity } = request
    if (ingress.spec?.ingressClassName !== undefined || ingress.metadata?.annotations?.[identity.label('ingress.class')] !== undefined)
      return ingress
    const [newest] = defaultClasses(lookup, ingressClasses, [identity.label('is-default-class', 'ingressclass')])
    return newest === undefined
      ? ingress
      : ({ ...ingress, spec: { ...ingress.spec, ingressClassName: newest.metadata?.name } } as ApiObject)
  },
})

interface Claim extends ApiObject {
  readonly spec?: {
    readonly storageClassName?: string
    readonly resources?: { readonly requests?: { readonly [resource: string]: string } }
  }
}

interface StorageClass extends ApiObject {
  readonly allowVolumeExpansion?: boolean
}

export const persistentVolumeClaimResize = (lookup: Lookup): Plugin => ({
  name: 'PersistentVolumeClaimResize',
  collections: ['persistentvolumeclaims'],
  validate: async (request) => {
    if (request.resource.collection !== 'persistentvolumeclaims' || request.operation !== 'UPDATE' || request.subresource !== '') return
    const [next, old] = [request.object as Claim | undefined, request.old as Claim | undefined]
    const [requested, current] = [sizeOf(next), sizeOf(old)]
    if (requested === undefined || current === undefined || compareQuantities(requested, current) <= 0) return
    const className =
      old?.metadata?.annotations?.[request.identity.label('storage-class', 'volume.beta')] ?? old?.spec?.storageClassName ?? ''
    const found = className === '' ? undefined : lookup.read<StorageClass>(storageClasses, { name: className })
    if (found?.allowVolumeExpansion) return
    throw forbidden(
      request.resource.subject,
      request.name,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  },
})

function sizeOf(claim: Claim | undefined): ReturnType<typeof parseQuantity> | undefined {
  const text = claim?.spec?.resources?.requests?.['storage']
  return text === undefined ? undefined : parseQuantity(text)
}

type NodeSelectorTerm = {
  readonly matchExpressions?: readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[]
}

export const persistentVolumeLabel: Plugin = {
  name: 'PersistentVolumeLabel',
  collections: ['persistentvolumes'],
  mutate: async ({ operation, subresource, object, identity }) => {
    if (operation !== 'CREATE' || subresource !== '' || object === undefined) return undefined
    const volume = object as PersistentVolume
    const labels = volume.metadata?.labels ?? {}
    const isProvisioned = volume.metadata?.annotations?.[identity.label('provisioned-by', 'pv')] !== undefined
    const zoneAndRegionLabels = ['topology', 'failure-domain.beta'].map((domain) => [
      identity.label('zone', domain),
      identity.label('region', domain),
    ])
    const keys = zoneAndRegionLabels.find((names) => names.every((name) => labels[name] !== undefined))
    if (!isProvisioned || keys === undefined) return undefined
    // A label value may list several zones, separated by `__`.
    const zoneRequirements = keys.map((key) => ({ key, operator: 'In', values: (labels[key] ?? '').split('__') }))
    const terms = (volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []) as readonly NodeSelectorTerm[]
    if (terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ key = '' }) => keys.includes(key)))) return undefined
    const nodeSelectorTerms =
      terms.length === 0
        ? [{ matchExpressions: zoneRequirements }]
        : terms.map((term) => ({ ...term, matchExpressions: [...(term.matchExpressions ?? []), ...zoneRequirements] }))
    return { ...volume, spec: { ...volume.spec, nodeAffinity: { required: { nodeSelectorTerms } } } } as ApiObject
  },
}

const finalizers: { readonly [collection: string]: string } = {
  persistentvolumes: 'pv-protection',
  persistentvolumeclaims: 'pvc-protection',
}

export const storageObjectInUseProtection: Plugin = {
  name: 'StorageObjectInUseProtection',
  collections: ['persistentvolumes', 'persistentvolumeclaims'],
  mutate: async ({ operation, resource, subresource, object, identity }) => {
    const finalizerName = finalizers[resource.collection]
    if (finalizerName === undefined || operation !== 'CREATE' || subresource !== '' || object === undefined) return object
    const finalizer = identity.label(finalizerName)
    const present = object.metadata?.finalizers ?? []
    return present.includes(finalizer) ? object : withMetadata(object, { finalizers: [...present, finalizer] })
  },
}
