// Default ClusterRoleBindings and RoleBindings; `role-template.ts` explains the placeholders in names.

export interface BindingTemplate {
  readonly name: string
  readonly namespace?: string
  /** Defaults to the name of the binding. */
  readonly role?: string
  /** `User:<name>`, `Group:<name>` or `ServiceAccount:<name>`, separated by spaces. */
  readonly subjects: string
}

/** Bindings of controller roles are derived in `rbac-defaults.ts`: each role is bound to the service account of its name. */
export const clusterRoleBindings: readonly BindingTemplate[] = [
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

export const roleBindings: readonly BindingTemplate[] = [
  { namespace: '%-public', name: 'system:cluster-info-reader', subjects: 'User:system:anonymous' },
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
