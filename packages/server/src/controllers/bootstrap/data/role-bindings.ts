// Who has the roles that a fresh server makes: subjects as `User:…`, `Group:…` or `ServiceAccount:…` of the system namespace.

import type { Identity } from '../../api/identity.js'
import type { Subject } from '../../resources/rbac-authorization/v1.schema.js'
import { spell } from './words.js'

export interface BindingTemplate {
  readonly name: string
  readonly namespace?: string
  /** The role, where it is not called like the binding. */
  readonly role?: string
  readonly subjects: string
}

/** Bindings of the whole cluster, without those of controllers: a controller's role is bound to the account of its name. */
export const clusterBindings: readonly BindingTemplate[] = [
  { name: 'cluster-admin', subjects: 'Group:system:masters' },
  { name: 'system:basic-user', subjects: 'Group:system:authenticated' },
  { name: 'system:discovery', subjects: 'Group:system:authenticated' },
  { name: 'system:%-controller-manager', subjects: 'User:system:%-controller-manager' },
  { name: 'system:%-dns', subjects: 'ServiceAccount:%-dns' },
  { name: 'system:%-scheduler', subjects: 'User:system:%-scheduler' },
  { name: 'system:monitoring', subjects: 'Group:system:monitoring' },
  { name: 'system:node', subjects: '' },
  { name: 'system:node-proxier', subjects: 'User:system:%-proxy' },
  { name: 'system:public-info-viewer', subjects: 'Group:system:authenticated Group:system:unauthenticated' },
  { name: 'system:service-account-issuer-discovery', subjects: 'Group:system:serviceaccounts' },
  { name: 'system:volume-scheduler', subjects: 'User:system:%-scheduler' },
]

export const namespaceBindings: readonly BindingTemplate[] = [
  { namespace: '%-public', name: 'system:controller:bootstrap-signer', subjects: 'ServiceAccount:bootstrap-signer' },
  {
    namespace: '%-system',
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    subjects: 'User:system:%-controller-manager User:system:%-scheduler',
  },
  {
    namespace: '%-system',
    name: 'system::leader-locking-!-controller-manager',
    subjects: 'User:system:%-controller-manager ServiceAccount:%-controller-manager',
  },
  {
    namespace: '%-system',
    name: 'system::leader-locking-!-scheduler',
    subjects: 'User:system:%-scheduler ServiceAccount:%-scheduler',
  },
  { namespace: '%-system', name: 'system:controller:bootstrap-signer', subjects: 'ServiceAccount:bootstrap-signer' },
  { namespace: '%-system', name: 'system:controller:cloud-provider', subjects: 'ServiceAccount:cloud-provider' },
  { namespace: '%-system', name: 'system:controller:token-cleaner', subjects: 'ServiceAccount:token-cleaner' },
]

export function subjectsOf(identity: Identity, text: string): readonly Subject[] {
  if (text === '') return []
  return text.split(' ').map((word) => {
    const end = word.indexOf(':')
    const [kind, name] = [word.slice(0, end), spell(identity, word.slice(end + 1))]
    if (kind === 'ServiceAccount') return { kind, name, namespace: identity.prefixed('system') }
    return { kind, apiGroup: identity.group({ stem: 'rbac.authorization' }), name }
  })
}
