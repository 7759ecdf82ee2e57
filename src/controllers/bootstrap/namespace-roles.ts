// The roles within the system's namespaces, and who has them.

import { on, type RoleTemplate, reading, tellingEvents } from './rules.js'

export const namespaceRoles = (): readonly RoleTemplate[] => [
  {
    namespace: '%-public',
    name: 'system:controller:bootstrap-signer',
    rules: [on(reading, 'core', 'configmaps'), on('update', 'core', 'configmaps', 'cluster-info'), tellingEvents],
  },
  {
    namespace: '%-system',
    name: 'extension-apiserver-authentication-reader',
    rules: [on(reading, 'core', 'configmaps', 'extension-apiserver-authentication')],
  },
  {
    namespace: '%-system',
    name: 'system::leader-locking-!-controller-manager',
    rules: [on('watch', 'core', 'configmaps'), on('get update', 'core', 'configmaps', '%-controller-manager')],
  },
  {
    namespace: '%-system',
    name: 'system::leader-locking-!-scheduler',
    rules: [on('watch', 'core', 'configmaps'), on('get update', 'core', 'configmaps', '%-scheduler')],
  },
  { namespace: '%-system', name: 'system:controller:bootstrap-signer', rules: [on(reading, 'core', 'secrets')] },
  { namespace: '%-system', name: 'system:controller:cloud-provider', rules: [on('create get list watch', 'core', 'configmaps')] },
  {
    namespace: '%-system',
    name: 'system:controller:token-cleaner',
    rules: [on('delete get list watch', 'core', 'secrets'), tellingEvents],
  },
]
