// Writes of the server itself: the same verbs that clients use, called by its own user.

import type { Resource } from '../api/catalog.js'
import { authenticatedGroup, mastersGroup, type User } from '../api/user.js'
import type { Call, Engine } from '../verbs/engine.js'

const serverUser: User = { name: 'system:apiserver', uid: '', groups: [mastersGroup, authenticatedGroup], extra: {} }

export interface OwnTarget {
  readonly resource: Resource
  readonly namespace?: string
  readonly name: string
  readonly subresource?: string
}

export const ownCall = (engine: Engine, target: OwnTarget): Call => ({
  resource: target.resource,
  subresource: target.subresource === undefined ? undefined : target.resource.subresources.get(target.subresource),
  namespace: target.namespace ?? '',
  name: target.name,
  user: serverUser,
  userAgent: engine.identity.prefixed('apiserver'),
  rules: {
    identity: engine.identity,
    now: engine.clock.now(),
    gates: engine.gates,
    forbidsPrivileged: engine.forbidsPrivileged,
    user: serverUser,
    version: target.resource.version,
  },
  warn: () => undefined,
  signal: undefined,
})
