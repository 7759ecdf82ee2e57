// Types of the settings that `readSettings` returns.

import type { readSettings } from './read-settings.js'

export type Settings = Awaited<ReturnType<typeof readSettings>>

export type KubeletSettings = Settings['kubelets']
export type AuditSettings = NonNullable<Settings['audit']>
export type AuthenticationSettings = Settings['authentication']
export type AuthorizationMode = Settings['authorizationModes'][number]
export type ControllerName = Settings['controllers'][number]
export type DeliverySettings = Pick<NonNullable<AuditSettings['log']>, 'mode' | 'batching' | 'truncation'>
export type EncryptionSettings = NonNullable<Settings['encryption']>
export type EtcdSettings = NonNullable<Settings['etcd']>
export type OidcSettings = NonNullable<AuthenticationSettings['oidc']>
export type RequestHeaderSettings = NonNullable<AuthenticationSettings['requestHeader']>
export type ServiceAccountSettings = AuthenticationSettings['serviceAccounts']
export type ServingSettings = Settings['serving']
