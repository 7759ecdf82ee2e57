// Admission: plugins compared with a server without these plugins, webhooks that do not match compared with none, and a matching
// webhook compared with a bare POST.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { issueCertificate } from '../../packages/server/src/net/tls/issue-certificate.js'
import { requestBytes } from '../connection.js'
import { fetchOnce, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'
import type { WebhookProcessStart } from '../webhook-process.js'

const unmatchedBar = 1.05
const matchedBar = 1.5
const mapBar = 1.05
const podBar = 1.3
const connections = 8
const unmatched = 100
const webhookNamespace = 'bench-with-webhook'
/** Plugins whose cost is measured: the other server of the comparison runs without them. */
const comparedPlugins =
  'LimitRanger,PodSecurity,RuntimeClass,CertificateSubjectRestriction,DefaultIngressClass,PersistentVolumeClaimResize,MutatingAdmissionWebhook,ValidatingAdmissionPolicy,ValidatingAdmissionWebhook,ResourceQuota'

export async function measureWebhooks(lab: Lab): Promise<readonly Line[]> {
  const plugins = await measurePlugins(lab)
  return [...plugins, await measureUnmatched(lab), await measureMatched(lab)]
}

/** Both servers of a comparison are new and equally warm. */
async function measurePlugins(lab: Lab): Promise<readonly Line[]> {
  const withoutPlugins = await bareServer(lab, [`--disable-admission-plugins=${comparedPlugins}`])
  const withPlugins = await bareServer(lab)
  return [
    await lineOf(lab, 'create, config map, all plugins / plugins of the first version', mapBar, [
      await mapsIn(lab, withoutPlugins),
      await mapsIn(lab, withPlugins),
    ]),
    await lineOf(lab, 'create, pod, all plugins / plugins of the first version', podBar, [
      await podsIn(lab, withoutPlugins),
      await podsIn(lab, withPlugins),
    ]),
  ]
}

async function measureUnmatched(lab: Lab): Promise<Line> {
  const withoutConfigurations = await bareServer(lab)
  const withConfigurations = await bareServer(lab)
  await configure(
    withConfigurations.served,
    Array.from({ length: unmatched }, (_, i) => ({ name: `c${i}`, url: 'https://127.0.0.1:1/', resource: `things${i}` })),
  )
  const workload = `create, ${unmatched} webhook configurations that do not match / none`
  return lineOf(lab, workload, unmatchedBar, [await mapsIn(lab, withoutConfigurations), await mapsIn(lab, withConfigurations)])
}

/** Cost of the webhook: requests with it minus requests without it, in one server process. The floor is measured in the same way. */
async function measureMatched(lab: Lab): Promise<Line> {
  const webhook = await startWebhook(lab)
  const { served, path: withoutPath } = await bareServer(lab)
  const path = await makeNamespace(served, webhookNamespace)
  const url = `https://127.0.0.1:${webhook.port}/validate`
  await configure(served, [{ name: 'one', url, resource: 'configmaps', ca: webhook.ca, namespace: webhookNamespace }])
  const dry = '?dryRun=All'
  const withWebhook = await mapsIn(lab, { served, path: `${path}${dry}` })
  const withoutWebhook = await mapsIn(lab, { served, path: `${withoutPath}${dry}` })
  await withWebhook.run(100)
  const sides = [await barePost(lab, webhook), difference(withWebhook, withoutWebhook)] as const
  return lineOf(lab, 'webhook call of a create / bare POST of its review', matchedBar, sides)
}

interface Collection {
  readonly served: Served
  /** Collection path of ConfigMaps. */
  readonly path: string
}

async function bareServer(lab: Lab, flags: readonly string[] = []): Promise<Collection> {
  const { served } = await lab.start(flags)
  return { served, path: await makeNamespace(served, 'bench-webhooks') }
}

let serial = 0

async function mapsIn(lab: Lab, { served, path }: Collection): Promise<Side> {
  const prefix = `c${serial++}`
  const generator = await lab.generator(served, connections)
  const next = (_: number, counter: number): Buffer =>
    requestBytes(served, { method: 'POST', path, body: configMapText({ name: `${prefix}-${counter}`, bytes: 1024 }) })
  return { run: (durationMs) => generator.run({ durationMs, expect: 201, next }) }
}

async function podsIn(lab: Lab, { served, path }: Collection): Promise<Side> {
  const generator = await lab.generator(served, connections)
  const next = (_: number, counter: number): Buffer =>
    requestBytes(served, { method: 'POST', path: path.replace('configmaps', 'pods'), body: JSON.stringify(pod(`p-${counter}`)) })
  return { run: (durationMs) => generator.run({ durationMs, expect: 201, next }) }
}

const pod = (name: string) => ({
  metadata: { name },
  spec: { serviceAccountName: 'default', containers: [{ name: 'main', image: 'registry.example/main:1' }] },
})

async function lineOf(lab: Lab, workload: string, bar: number, [floorSide, side]: readonly [Side, Side]): Promise<Line> {
  const { floor, server, ratio, perSecond } = await compare(floorSide, side, lab.rounds)
  return { workload, floor: microseconds(floor), server: microseconds(server), ratio, bar, note: `${perSecond.toFixed(0)}/s` }
}

/** CPU time of `more` minus that of `less`, per request. */
const difference = (more: Side, less: Side): Side => ({
  run: async (durationMs) => {
    const base = await less.run(durationMs)
    const whole = await more.run(durationMs)
    return { ...whole, cpuMicrosecondsEach: whole.cpuMicrosecondsEach - base.cpuMicrosecondsEach }
  },
})

interface Configured {
  readonly name: string
  readonly url: string
  readonly resource: string
  readonly ca?: string
  /** Undefined: all namespaces. */
  readonly namespace?: string
}

async function configure(served: Served, configurations: readonly Configured[]): Promise<void> {
  for (const { name, url, resource, ca, namespace } of configurations) {
    const webhook = {
      name: `${name}.example.com`,
      clientConfig: { url, ...(ca === undefined ? {} : { caBundle: Buffer.from(ca).toString('base64') }) },
      ...(namespace === undefined ? {} : { namespaceSelector: { matchLabels: { 'cluster.io/metadata.name': namespace } } }),
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: [resource] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    }
    const path = '/apis/admissionregistration.cluster.io/v1/validatingwebhookconfigurations'
    const body = JSON.stringify({ metadata: { name }, webhooks: [webhook] })
    const { status } = await fetchOnce(served, { method: 'POST', path, body })
    if (status !== 201) throw new Error(`creating a webhook configuration failed with status ${status}`)
  }
}

interface RunningWebhook {
  readonly child: ChildProcess
  readonly port: number
  readonly ca: string
  readonly cert: string
  readonly key: string
}

function launch(lab: Lab, start: WebhookProcessStart): ChildProcess {
  const child = fork(fileURLToPath(new URL('../webhook-process.js', import.meta.url)), [JSON.stringify(start)])
  lab.closeLater(async () => child.disconnect())
  return child
}

async function startWebhook(lab: Lab): Promise<RunningWebhook> {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
  const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...times }), commonName: 'hooks' }
  const { cert, key } = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
  const child = launch(lab, { role: 'webhook', cert, key })
  const [port] = (await once(child, 'message')) as [number]
  return { child, port, ca: authority.cert, cert, key }
}

/** CPU time that a bare server needs to POST the last review: requests with the POST minus requests without it. */
async function barePost(lab: Lab, { child: webhook, port, ca, cert, key }: RunningWebhook): Promise<Side> {
  webhook.send('')
  const [review] = (await once(webhook, 'message')) as [string]
  const child = launch(lab, { role: 'server', cert, key, url: `https://127.0.0.1:${port}/validate`, ca, review })
  const [ownPort] = (await once(child, 'message')) as [number]
  const served: Served = { pid: child.pid ?? 0, port: ownPort, ca, token: '' }
  const sideOf = async (path: string): Promise<Side> => {
    const generator = await lab.generator(served, connections)
    const request = requestBytes(served, { method: 'POST', path, body: configMapText({ name: 'c', bytes: 1024 }) })
    return { run: (durationMs) => generator.run({ durationMs, expect: 201, next: () => request }) }
  }
  return difference(await sideOf('/webhook'), await sideOf('/direct'))
}
