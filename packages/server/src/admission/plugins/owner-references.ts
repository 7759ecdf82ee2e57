// Who may say that an object goes when another one does: whoever may delete it; and that the other one waits for it, whoever may finalize that.

import { forbidden } from '../../api/api-error.js'
import type { OwnerReference } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import type { AskAccess, Right } from '../access.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { FindOwners } from '../owner-kinds.js'
import { refusedName } from '../pods.js'

export interface OwnerReferenceParts {
  readonly ask: AskAccess
  readonly findOwners: FindOwners
}

export const ownerReferencesPermissionEnforcement = ({ ask, findOwners }: OwnerReferenceParts): Plugin => ({
  name: 'OwnerReferencesPermissionEnforcement',
  validate: (request) => {
    const { operation, resource, subresource, object, old } = request
    if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
    // Programs report the status of pods with everything else as they know it.
    if (resource.collection === 'pods' && subresource === 'status') return undefined
    const next = object?.metadata?.ownerReferences ?? []
    const before = old?.metadata?.ownerReferences ?? []
    return next === before || sameValue(next, before) ? undefined : check({ request, ask, findOwners, next, before })
  },
})

interface Change extends OwnerReferenceParts {
  readonly request: AdmissionRequest
  readonly next: readonly OwnerReference[]
  readonly before: readonly OwnerReference[]
}

async function check({ request, ask, findOwners, next, before }: Change): Promise<void> {
  const { resource, namespace, name, subresource, call } = request
  const refuse = (why: string): Error => forbidden(resource.subject, refusedName(request), why)
  const lacks = async (right: Right): Promise<string | undefined> => {
    const { verdict, reason } = await ask(call.user, right)
    return verdict === 'allow' ? undefined : reason === '' ? '' : `: ${reason}`
  }
  // Whoever makes an object decides whose it is.
  if (request.operation !== 'CREATE') {
    const { group, resource: plural } = resource.subject
    const why = await lacks({ verb: 'delete', group, version: resource.version, resource: plural, namespace, subresource, name })
    if (why !== undefined) throw refuse(`cannot set an ownerRef on a resource you can't delete${why}`)
  }
  const blockedBefore = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid))
  const blocking = next.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion === true && !blockedBefore.has(uid))
  if (blocking.length === 0 || (await lacks(finalizeAnything)) === undefined) return
  for (const reference of blocking) {
    const owners = findOwners(reference.apiVersion ?? '', reference.kind ?? '')
    if (owners.length === 0) throw refuse(unknownKind(reference))
    for (const owner of owners) {
      const right = { verb: 'update', group: owner.group, version: owner.version, resource: owner.resource }
      const place = { namespace: owner.namespaced ? namespace : '', subresource: 'finalizers', name: reference.name ?? '' }
      const why = await lacks({ ...right, ...place })
      if (why !== undefined)
        throw refuse(`cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on${why}`)
    }
  }
}

/** Whoever has it need not be asked about each owner, nor need the owner be of a kind that is served. */
const finalizeAnything: Right = { verb: 'update', group: '*', version: '*', resource: '*', subresource: 'finalizers', name: '*' }

const unknownKind = ({ apiVersion = '', kind = '' }: OwnerReference): string =>
  `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
