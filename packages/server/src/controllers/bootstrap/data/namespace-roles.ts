// Default Roles of the system namespaces; `role-template.ts` explains the placeholders in names.

import { allow, type RoleTemplate, readVerbs, recordEvents } from './role-template.js'

export const namespaceRoles: readonly RoleTemplate[] = [
  // kube-apiserver leaves this Role to installers: joining machines read cluster-info before they have a credential.
  { namespace: '%-public', name: 'system:cluster-info-reader', rules: [allow('get', 'core', 'configmaps', 'cluster-info')] },
  {
    namespace: '%-public',
    name: 'system:controller:bootstrap-signer',
    rules: [allow(readVerbs, 'core', 'configmaps'), allow('update', 'core', 'configmaps', 'cluster-info'), recordEvents],
  },
  {
    namespace: '%-system',
    name: 'extension-apiserver-authentication-reader',
    rules: [allow(readVerbs, 'core', 'configmaps', 'extension-apiserver-authentication')],
  },
  {
    namespace: '%-system',
    name: 'system::leader-locking-!-controller-manager',
    rules: [allow('watch', 'core', 'configmaps'), allow('get update', 'core', 'configmaps', '%-controller-manager')],
  },
  {
    namespace: '%-system',
    name: 'system::leader-locking-!-scheduler',
    rules: [allow('watch', 'core', 'configmaps'), allow('get update', 'core', 'configmaps', '%-scheduler')],
  },
  { namespace: '%-system', name: 'system:controller:bootstrap-signer', rules: [allow(readVerbs, 'core', 'secrets')] },
  { namespace: '%-system', name: 'system:controller:cloud-provider', rules: [allow('create get list watch', 'core', 'configmaps')] },
  {
    namespace: '%-system',
    name: 'system:controller:token-cleaner',
    rules: [allow('delete get list watch', 'core', 'secrets'), recordEvents],
  },
]
