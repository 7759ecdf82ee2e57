// Claims and ingresses that name no class get the default one, if there is one.

import type { GroupName } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { compareText } from '../../base/text-order.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { Lookup } from '../lookup.js'

interface Claim extends ApiObject {
  readonly spec?: { readonly storageClassName?: string }
}

interface Ingress extends ApiObject {
  readonly spec?: { readonly ingressClassName?: string }
}

const storageClasses = { group: { stem: 'storage' } as GroupName, version: 'v1', resource: 'storageclasses' }
const ingressClasses = { group: { stem: 'networking' } as GroupName, version: 'v1', resource: 'ingressclasses' }
const ingresses = { group: { stem: 'networking' } as GroupName, version: 'v1', resource: 'ingresses' }

const isNew = (request: AdmissionRequest, collection: string | undefined): boolean =>
  request.operation === 'CREATE' && request.subresource === '' && request.resource.collection === collection

/** The classes that carry one of the marks, the newest first and then by name. */
function marked(lookup: Lookup, name: typeof storageClasses, marks: readonly string[]): readonly ApiObject[] {
  return lookup
    .list(name)
    .filter(({ metadata }) => marks.some((mark) => metadata?.annotations?.[mark] === 'true'))
    .sort((a, b) => compare(b.metadata?.creationTimestamp, a.metadata?.creationTimestamp) || compare(a.metadata?.name, b.metadata?.name))
}

const compare = (a = '', b = ''): number => compareText(a, b)

export const defaultStorageClass = (lookup: Lookup): Plugin => ({
  name: 'DefaultStorageClass',
  collections: ['persistentvolumeclaims'],
  mutate: (request) => {
    if (!isNew(request, 'persistentvolumeclaims')) return request.object
    const claim = request.object as Claim
    const { identity } = request
    const isNamed =
      claim.spec?.storageClassName !== undefined ||
      claim.metadata?.annotations?.[identity.label('storage-class', 'volume.beta')] !== undefined
    if (isNamed) return claim
    const [newest] = marked(lookup, storageClasses, [
      identity.label('is-default-class', 'storageclass'),
      identity.label('is-default-class', 'storageclass.beta'),
    ])
    return newest === undefined ? claim : ({ ...claim, spec: { ...claim.spec, storageClassName: newest.metadata?.name } } as ApiObject)
  },
})

export const defaultIngressClass = (lookup: Lookup): Plugin => ({
  name: 'DefaultIngressClass',
  collections: [lookup.resource(ingresses)?.collection ?? ''],
  mutate: (request) => {
    if (!isNew(request, lookup.resource(ingresses)?.collection)) return request.object
    const ingress = request.object as Ingress
    const { identity } = request
    if (ingress.spec?.ingressClassName !== undefined || ingress.metadata?.annotations?.[identity.label('ingress.class')] !== undefined)
      return ingress
    const [newest] = marked(lookup, ingressClasses, [identity.label('is-default-class', 'ingressclass')])
    return newest === undefined
      ? ingress
      : ({ ...ingress, spec: { ...ingress.spec, ingressClassName: newest.metadata?.name } } as ApiObject)
  },
})
