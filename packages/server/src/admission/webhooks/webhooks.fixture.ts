// Fixture for webhook tests: a webhook server, the webhook plugins, and a ConfigMap to admit.

import { after } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { MutatingWebhook } from '@cluster-apiserver/api/resources/admissionregistration/v1.schema.js'
import { CertificateCounter } from '../../net/tls/certificate-flaws.js'
import { type AdmissionFixture, admissionFixture, type RequestInput } from '../admission.fixture.js'
import { createAdmission } from '../admission.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { WebhookClients } from './webhook-clients.js'
import { WebhookCounters } from './webhook-counters.js'
import { webhookPlugins } from './webhook-plugins.js'
import { type WebhookCall, type WebhookReply, webhookServer } from './webhook-server.fixture.js'

export type Reply = (call: WebhookCall) => WebhookReply | Promise<WebhookReply>

const clients = new WebhookClients({ userAgent: 'test', allowsPlainHttp: true, dials: { counter: new CertificateCounter() } })
const closeCallbacks: (() => void)[] = [() => clients.close()]
after(() => {
  for (const close of closeCallbacks) close()
})

interface WebhookFixture extends AdmissionFixture {
  readonly calls: WebhookCall[]
  readonly url: string
  readonly counters: WebhookCounters
  readonly plugins: readonly Plugin[]
  configure(kind: 'mutating' | 'validating', name: string, ...webhooks: readonly MutatingWebhook[]): Promise<void>
  webhook(path: string, fields?: MutatingWebhook): MutatingWebhook
  admit(input?: Partial<RequestInput>, otherPlugins?: readonly Plugin[]): Promise<ApiObject | undefined>
}

export async function webhookFixture(reply: Reply, isServing = true): Promise<WebhookFixture> {
  const admission = await admissionFixture()
  const server = await webhookServer(reply)
  closeCallbacks.push(() => server.close())
  const { store, catalog, find, put, request: requestOf } = admission
  await put(find('namespaces'), { metadata: { name: 'n', labels: { tier: 'web' } } })
  const counters = new WebhookCounters()
  let uids = 0
  const plugins = webhookPlugins(
    { store, catalogs: { current: catalog } },
    {
      clients,
      counters,
      credentials: { mutating: () => ({ authorization: () => 'Bearer m' }), validating: () => undefined },
      newUid: () => `uid-${uids++}`,
      isServing: () => isServing,
    },
  )
  return {
    ...admission,
    calls: server.calls,
    url: server.url,
    counters,
    plugins,
    configure: (kind, name, ...webhooks) =>
      put(find(`${kind}webhookconfigurations`, 'admissionregistration.k8s.io'), { metadata: { name }, webhooks }),
    webhook: (path, fields = {}) => ({
      name: `${path}.example.com`,
      clientConfig: { url: `${server.url}/${path}` },
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['v1'], resources: ['*/*'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 5,
      ...fields,
    }),
    admit: async (input = {}, otherPlugins = []) => {
      const request = requestOf({
        resource: find('configmaps'),
        object: { metadata: { name: 'a', namespace: 'n' }, data: { k: 'v' } },
        ...input,
      })
      return admit(request, [...otherPlugins, ...plugins])
    },
  }
}

async function admit(request: AdmissionRequest, plugins: readonly Plugin[]): Promise<ApiObject | undefined> {
  const admission = createAdmission(plugins)
  const object = await admission.mutate(request)
  await admission.validate(request.withObject(object))
  return object
}

export const rejectionOf = async (work: Promise<unknown>): Promise<ApiError['status']> => {
  try {
    await work
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown.status
    throw thrown
  }
  throw new Error('it was not refused')
}

export const requestIn = (call: WebhookCall | undefined): { readonly [field: string]: unknown } => call?.review.request ?? {}

export const sentData = (call: WebhookCall | undefined): unknown => (requestIn(call)['object'] as { readonly data?: unknown }).data
