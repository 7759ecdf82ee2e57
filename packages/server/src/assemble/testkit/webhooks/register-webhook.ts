// Registers a test webhook in the API: a webhook configuration, or spec.conversion of a CustomResourceDefinition.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { crdResource } from '../../../controllers/custom-resources/crd-catalog.js'
import {
  ignoreErrors,
  internalCall,
  internalDelete,
  internalPatch,
  notFoundOrConflict,
} from '../../../controllers/framework/internal-call.js'
import type { Engine } from '../../../verbs/engine.js'
import { patch } from '../../../verbs/patch.js'
import type { WebhookRule, WebhookSpec } from './webhook-spec.js'

export interface RegistrationParts {
  readonly engine: Engine
  readonly catalogs: CatalogSource
}

/** `clientConfig` of the API. */
export interface WebhookClient {
  readonly url: string
  /** PEM in base64. */
  readonly caBundle: string
}

/** Removes the registration; does nothing if a client has removed or replaced it. */
export type Unregister = (signal?: AbortSignal) => Promise<void>

const fieldManager = 'testkit'

/** Resolves when the next request is reviewed: plugins are notified of a configuration in its commit. */
export async function registerAdmissionWebhook(
  { engine, catalogs }: RegistrationParts,
  { kind, ...spec }: WebhookSpec<'validating' | 'mutating'>,
  { name, client }: { readonly name: string; readonly client: WebhookClient },
): Promise<Unregister> {
  const group = engine.identity.group({ stem: 'admissionregistration' })
  const resource = catalogs.current.find(group, 'v1', `${kind}webhookconfigurations`)
  if (resource === undefined) throw new Error(`webhook: the server does not serve ${kind}webhookconfigurations`)
  if (find(engine, resource, name) !== undefined)
    throw new Error(`webhook: there is a ${resource.kind} "${name}" already; close it or choose another name`)
  const webhook = {
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...spec,
    name,
    clientConfig: client,
    rules: spec.rules.map(withDefaults),
  }
  const object = { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name }, webhooks: [webhook] }
  const options = { fieldManager, force: true, fieldValidation: 'Strict' } as const
  await patch(engine, internalCall(engine, { resource, name, options }), { type: 'apply', patch: object, duplicates: [] })
  const uid = find(engine, resource, name)?.metadata?.uid ?? ''
  return async (signal) =>
    ignoreErrors(
      notFoundOrConflict,
      internalDelete(engine, { resource, name, options: { preconditions: { uid } }, ...(signal === undefined ? {} : { signal }) }),
    )
}

const withDefaults = (rule: WebhookRule): WebhookRule => ({
  apiGroups: ['*'],
  apiVersions: ['*'],
  operations: ['CREATE', 'UPDATE'],
  ...rule,
})

export async function registerConversionWebhook(
  { engine, catalogs }: RegistrationParts,
  { crd: name }: WebhookSpec<'conversion'>,
  clientConfig: WebhookClient,
): Promise<Unregister> {
  const resource = crdResource(catalogs)
  const before = resource && conversionOf(engine, resource, name)
  if (resource === undefined || before === undefined)
    throw new Error(`webhook: there is no CustomResourceDefinition "${name}"; create it first`)
  if (before.webhook?.clientConfig?.url?.startsWith(new URL(clientConfig.url).origin) === true)
    throw new Error(`webhook: "${name}" already has a conversion webhook of this server; close it first`)
  const setConversion = (conversion: object, signal?: AbortSignal): Promise<unknown> =>
    internalPatch(
      engine,
      { resource, name, options: { fieldManager }, ...(signal === undefined ? {} : { signal }) },
      { spec: { conversion } },
    )
  await setConversion({ strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } })
  return async (signal) => {
    if (conversionOf(engine, resource, name)?.webhook?.clientConfig?.url !== clientConfig.url) return
    // Null members remove fields that the former conversion did not have.
    const { webhook } = before
    const former =
      webhook === undefined ? null : { ...webhook, clientConfig: { url: null, service: null, caBundle: null, ...webhook.clientConfig } }
    await ignoreErrors(notFoundOrConflict, setConversion({ ...before, webhook: former }, signal))
  }
}

type Conversion = NonNullable<NonNullable<CustomResourceDefinition['spec']>['conversion']>

function conversionOf(engine: Engine, resource: Resource, name: string): Conversion | undefined {
  const crd = find(engine, resource, name) as CustomResourceDefinition | undefined
  return crd && (crd.spec?.conversion ?? { strategy: 'None' })
}

const find = (engine: Engine, resource: Resource, name: string): ApiObject | undefined =>
  engine.store.read({ resource, namespace: '', name })?.decode(resource)
