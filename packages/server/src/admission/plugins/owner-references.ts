// OwnerReferencesPermissionEnforcement plugin: updating ownerReferences requires permission to delete the object; setting
// blockOwnerDeletion requires permission to update finalizers of the owner.

import type { OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { CheckPermission, FindOwners, Permission } from '../lookup.js'
import { refuseRequest } from '../pod-requests.js'

interface OwnerReferenceParts {
  readonly checkPermission: CheckPermission
  readonly findOwners: FindOwners
}

export const ownerReferencesPermissionEnforcement = ({ checkPermission, findOwners }: OwnerReferenceParts): Plugin => ({
  name: 'OwnerReferencesPermissionEnforcement',
  validate: async (request) => {
    const { operation, resource, subresource, object, old } = request
    if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
    // As in kube-apiserver: status updates of pods may carry outdated owner references.
    if (resource.collection === 'pods' && subresource === 'status') return undefined
    const next = object?.metadata?.ownerReferences ?? []
    const before = old?.metadata?.ownerReferences ?? []
    return next === before || sameValue(next, before) ? undefined : checkOwnerChange({ request, checkPermission, findOwners, next, before })
  },
})

interface OwnerChange extends OwnerReferenceParts {
  readonly request: AdmissionRequest
  readonly next: readonly OwnerReference[]
  readonly before: readonly OwnerReference[]
}

async function checkOwnerChange({ request, checkPermission, findOwners, next, before }: OwnerChange): Promise<void> {
  const { resource, namespace, name, subresource, call } = request
  const refuse = (why: string): Error => refuseRequest(request, why)
  const deniedReason = async (permission: Permission): Promise<string | undefined> => {
    const { verdict, reason } = await checkPermission(call.user, permission)
    return verdict === 'allow' ? undefined : reason === '' ? '' : `: ${reason}`
  }
  if (request.operation !== 'CREATE') {
    const { group, resource: plural } = resource.subject
    const why = await deniedReason({ verb: 'delete', group, version: resource.version, resource: plural, namespace, subresource, name })
    if (why !== undefined) throw refuse(`cannot set an ownerRef on a resource you can't delete${why}`)
  }
  const blockedBefore = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid))
  const blocking = next.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion === true && !blockedBefore.has(uid))
  if (blocking.length === 0 || (await deniedReason(finalizeAnything)) === undefined) return
  for (const reference of blocking) {
    const owners = findOwners(reference.apiVersion ?? '', reference.kind ?? '')
    if (owners.length === 0) throw refuse(unknownKind(reference))
    for (const owner of owners) {
      const permission = { verb: 'update', group: owner.group, version: owner.version, resource: owner.resource }
      const finalizers = { namespace: owner.namespaced ? namespace : '', subresource: 'finalizers', name: reference.name ?? '' }
      const why = await deniedReason({ ...permission, ...finalizers })
      if (why !== undefined)
        throw refuse(`cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on${why}`)
    }
  }
}

/** With this permission owners are not checked one by one, and their kinds need not be served. */
const finalizeAnything: Permission = { verb: 'update', group: '*', version: '*', resource: '*', subresource: 'finalizers', name: '*' }

const unknownKind = ({ apiVersion = '', kind = '' }: OwnerReference): string =>
  `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
