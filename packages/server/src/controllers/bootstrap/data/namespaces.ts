// Namespaces that every cluster has; `%-` is the identity's prefix of names.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { WantedObject } from '../ensure-objects.js'
import { expandName } from './role-template.js'

const names = ['default', '%-node-lease', '%-public', '%-system']

export const systemNamespaces = (identity: Identity): readonly WantedObject[] =>
  names.map((name) => ({ group: '', version: 'v1', resource: 'namespaces', object: { metadata: { name: expandName(identity, name) } } }))
