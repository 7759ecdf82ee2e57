// Admission: what plugins cost where nobody configured them, what webhooks cost that are not meant, and one that is, beside a bare POST.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { issueCertificate } from '../../src/net/issue-certificate.js'
import { requestBytes } from '../connection.js'
import type { HookProcessStart } from '../hook-process.js'
import { fetchOnce, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const unmatchedBar = 1.05
const matchedBar = 1.5
const mapBar = 1.05
const podBar = 1.3
const connections = 8
const unmatched = 100
const hookedNamespace = 'bench-hooked'
/** Those that look at every write or every pod, and came after the first version. */
const newPlugins =
  'LimitRanger,PodSecurity,RuntimeClass,CertificateSubjectRestriction,DefaultIngressClass,PersistentVolumeClaimResize,MutatingAdmissionWebhook,ValidatingAdmissionPolicy,ValidatingAdmissionWebhook,ResourceQuota'

export async function measureHooks(lab: Lab): Promise<readonly Line[]> {
  const plugins = await measurePlugins(lab)
  return [...plugins, await measureUnmatched(lab), await measureMatched(lab)]
}

/** Both servers of a line are new, and have done the same before: what has run longer is compiled better. */
async function measurePlugins(lab: Lab): Promise<readonly Line[]> {
  const few = await bareServer(lab, [`--disable-admission-plugins=${newPlugins}`])
  const all = await bareServer(lab)
  return [
    await lineOf(lab, 'create, config map, all plugins / those of the first version', mapBar, [
      await mapsIn(lab, few),
      await mapsIn(lab, all),
    ]),
    await lineOf(lab, 'create, pod, all plugins / those of the first version', podBar, [await podsIn(lab, few), await podsIn(lab, all)]),
  ]
}

async function measureUnmatched(lab: Lab): Promise<Line> {
  const none = await bareServer(lab)
  const crowded = await bareServer(lab)
  await configure(
    crowded.served,
    Array.from({ length: unmatched }, (_, i) => ({ name: `c${i}`, url: 'https://127.0.0.1:1/', resource: `things${i}` })),
  )
  const workload = `create, ${unmatched} configurations of webhooks that do not match / none`
  return lineOf(lab, workload, unmatchedBar, [await mapsIn(lab, none), await mapsIn(lab, crowded)])
}

/** With the hook and without it in one process, as beside it the POST: what differs is the hook alone. */
async function measureMatched(lab: Lab): Promise<Line> {
  const hook = await startHook(lab)
  const { served, path: unhooked } = await bareServer(lab)
  const path = await makeNamespace(served, hookedNamespace)
  const url = `https://127.0.0.1:${hook.port}/validate`
  await configure(served, [{ name: 'one', url, resource: 'configmaps', ca: hook.ca, namespace: hookedNamespace }])
  const dry = '?dryRun=All'
  const withHook = await mapsIn(lab, { served, path: `${path}${dry}` })
  const withoutHook = await mapsIn(lab, { served, path: `${unhooked}${dry}` })
  await withHook.run(100)
  const sides = [await barePost(lab, hook), difference(withHook, withoutHook)] as const
  return lineOf(lab, 'what a webhook adds to a create / a bare POST of its review', matchedBar, sides)
}

interface Place {
  readonly served: Served
  /** Of the config maps of a namespace. */
  readonly path: string
}

async function bareServer(lab: Lab, flags: readonly string[] = []): Promise<Place> {
  const { served } = await lab.start(flags)
  return { served, path: await makeNamespace(served, 'bench-hooks') }
}

let serial = 0

async function mapsIn(lab: Lab, { served, path }: Place): Promise<Side> {
  const prefix = `c${serial++}`
  const generator = await lab.generator(served, connections)
  const next = (_: number, counter: number): Buffer =>
    requestBytes(served, { method: 'POST', path, body: configMapText({ name: `${prefix}-${counter}`, bytes: 1024 }) })
  return { run: (durationMs) => generator.run({ durationMs, expect: 201, next }) }
}

async function podsIn(lab: Lab, { served, path }: Place): Promise<Side> {
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

/** What one costs more than the other. */
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
  /** Left out: all of them. */
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
    if (status !== 201) throw new Error(`a configuration was answered with ${status}`)
  }
}

interface RunningHook {
  readonly child: ChildProcess
  readonly port: number
  readonly ca: string
  readonly cert: string
  readonly key: string
}

function launch(lab: Lab, start: HookProcessStart): ChildProcess {
  const child = fork(fileURLToPath(new URL('../hook-process.js', import.meta.url)), [JSON.stringify(start)])
  lab.closeLater(async () => child.disconnect())
  return child
}

async function startHook(lab: Lab): Promise<RunningHook> {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
  const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...times }), commonName: 'hooks' }
  const { cert, key } = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
  const child = launch(lab, { role: 'hook', cert, key })
  const [port] = (await once(child, 'message')) as [number]
  return { child, port, ca: authority.cert, cert, key }
}

/** What a bare server spends on a POST of the review that the hook was sent last: what it costs with it, less what it costs without. */
async function barePost(lab: Lab, { child: hook, port, ca, cert, key }: RunningHook): Promise<Side> {
  hook.send('')
  const [review] = (await once(hook, 'message')) as [string]
  const child = launch(lab, { role: 'server', cert, key, url: `https://127.0.0.1:${port}/validate`, ca, review })
  const [ownPort] = (await once(child, 'message')) as [number]
  const served: Served = { pid: child.pid ?? 0, port: ownPort, ca, token: '' }
  const sideOf = async (path: string): Promise<Side> => {
    const generator = await lab.generator(served, connections)
    const request = requestBytes(served, { method: 'POST', path, body: configMapText({ name: 'c', bytes: 1024 }) })
    return { run: (durationMs) => generator.run({ durationMs, expect: 201, next: () => request }) }
  }
  return difference(await sideOf('/hook'), await sideOf('/plain'))
}
