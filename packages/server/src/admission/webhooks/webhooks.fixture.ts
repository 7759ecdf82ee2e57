// What tests of hooks stand on: a hook that answers as they say, plugins that ask it, and a ConfigMap on its way in.

import { after } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import { CertificateTally } from '../../net/shown-certificate.js'
import type { MutatingWebhook } from '../../resources/admissionregistration/v1.schema.js'
import { type AdmissionRequest, admissionOf, type Plugin } from '../admission.js'
import { type Attempt, type Stage, stageOf } from '../stage.fixture.js'
import { HookClients } from './hook-clients.js'
import { type HookCall, type HookReply, hookServer } from './hook-server.fixture.js'
import { HookTallies } from './hook-tallies.js'
import { webhookPlugins } from './webhook-plugins.js'

export type Reply = (call: HookCall) => HookReply | Promise<HookReply>

const clients = new HookClients({ userAgent: 'hooks', allowsPlain: true, ways: { tally: new CertificateTally() } })
const closings: (() => void)[] = [() => clients.close()]
after(() => {
  for (const close of closings) close()
})

export interface World extends Stage {
  readonly calls: HookCall[]
  readonly url: string
  readonly tallies: HookTallies
  readonly plugins: readonly Plugin[]
  configure(kind: 'mutating' | 'validating', name: string, ...webhooks: readonly MutatingWebhook[]): Promise<void>
  hook(path: string, more?: MutatingWebhook): MutatingWebhook
  /** What becomes of a ConfigMap. */
  admit(attempt?: Partial<Attempt>, others?: readonly Plugin[]): Promise<ApiObject | undefined>
}

export async function worldOf(reply: Reply, isServing = true): Promise<World> {
  const stage = await stageOf()
  const server = await hookServer(reply)
  closings.push(() => server.close())
  const { store, catalog, find, put, attempt } = stage
  await put(find('namespaces'), { metadata: { name: 'n', labels: { tier: 'web' } } })
  const tallies = new HookTallies()
  let uids = 0
  const plugins = webhookPlugins(
    { store, catalogs: { current: catalog } },
    {
      clients,
      tallies,
      credentials: { mutating: () => ({ authorization: () => 'Bearer m' }), validating: () => undefined },
      newUid: () => `uid-${uids++}`,
      isServing: () => isServing,
    },
  )
  return {
    ...stage,
    calls: server.calls,
    url: server.url,
    tallies,
    plugins,
    configure: (kind, name, ...webhooks) =>
      put(find(`${kind}webhookconfigurations`, 'admissionregistration.k8s.io'), { metadata: { name }, webhooks }),
    hook: (path, more = {}) => ({
      name: `${path}.example.com`,
      clientConfig: { url: `${server.url}/${path}` },
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['v1'], resources: ['*/*'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 5,
      ...more,
    }),
    admit: async (more = {}, others = []) => {
      const request = attempt({
        resource: find('configmaps'),
        object: { metadata: { name: 'a', namespace: 'n' }, data: { k: 'v' } },
        ...more,
      })
      return admit(request, [...others, ...plugins])
    },
  }
}

async function admit(request: AdmissionRequest, plugins: readonly Plugin[]): Promise<ApiObject | undefined> {
  const admission = admissionOf(plugins)
  const object = await admission.mutate(request)
  await admission.validate(request.withObject(object))
  return object
}

export const refused = async (work: Promise<unknown>): Promise<ApiError['status']> => {
  try {
    await work
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown.status
    throw thrown
  }
  throw new Error('it was not refused')
}

/** The request that a hook was sent. */
export const requestIn = (call: HookCall | undefined): { readonly [field: string]: unknown } => call?.review.request ?? {}

export const dataSent = (call: HookCall | undefined): unknown => (requestIn(call)['object'] as { readonly data?: unknown }).data
