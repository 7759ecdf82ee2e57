// Creates the controllers by name, and starts them when the server is ready; with etcd, on the elected leader only.

import { randomUUID, X509Certificate } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { systemTimers } from '@cluster-apiserver/api/base/clock.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { apiServiceAvailability } from '../controllers/aggregation/api-service-availability.js'
import { customApiServices } from '../controllers/aggregation/crd-api-services.js'
import { publishExtensionAuthentication } from '../controllers/aggregation/extension-apiserver-authentication.js'
import { expiredApiServerLeases } from '../controllers/apiserver-identity/expired-apiserver-leases.js'
import { bootstrapTokenCleaner } from '../controllers/bootstrap-tokens/bootstrap-token-cleaner.js'
import { clusterInfoSigner } from '../controllers/bootstrap-tokens/cluster-info-signer.js'
import { certificateApproval } from '../controllers/certificates/certificate-approval.js'
import { certificateCleaner } from '../controllers/certificates/certificate-cleaner.js'
import { certificateSigning, readAuthority, type Signer } from '../controllers/certificates/certificate-signing.js'
import { signerNames } from '../controllers/certificates/signer-rules.js'
import { clusterRoleAggregation } from '../controllers/cluster-role-aggregation.js'
import { customResourceDefinitions } from '../controllers/custom-resources/crd-status.js'
import { disruptionBudgets, quietBudgetDelayMs } from '../controllers/disruption/disruption.js'
import { flowSchemaStatus } from '../controllers/flow-schema-status.js'
import type { ControllerParts } from '../controllers/framework/controller.js'
import { ControllerCounters } from '../controllers/framework/queue-metrics.js'
import { garbageCollection } from '../controllers/garbage-collection/garbage-collection.js'
import type { Extensions } from '../controllers/garbage-collection/remote-groups/remote-objects.js'
import { type Controller, LeaderElection } from '../controllers/leader-election/leader-election.js'
import { leaderElectionLease } from '../controllers/leader-election/leader-election-lease.js'
import { namespaceDeletion } from '../controllers/namespaces/namespace-deletion.js'
import { deleteRemoteContents } from '../controllers/namespaces/remote-namespace-contents.js'
import { quotaStatus } from '../controllers/resource-quota.js'
import { defaultServiceAccounts } from '../controllers/service-accounts/default-service-account.js'
import { publishRootCa, rootCaConfigMaps } from '../controllers/service-accounts/root-ca-config-map.js'
import { serviceAccountTokenSecrets } from '../controllers/service-accounts/service-account-token-secrets.js'
import { ttlAfterFinished } from '../controllers/ttl-after-finished.js'
import { claimProtection, volumeProtection } from '../controllers/volume-protection.js'
import type { SimulatedBackends } from '../http/proxy/backends.js'
import type { KeyPair } from '../net/tls/issue-certificate.js'
import { readOptionalFile, writePrivateFile } from '../options/files/private-files.js'
import type { ControllerName, Settings } from '../options/settings.js'
import type { Engine } from '../verbs/engine.js'
import type { ClientTrust } from './certificates/client-ca.js'
import { type ReloadableCertificate, signerOf } from './certificates/serving-certificate.js'
import type { Aggregation } from './create-aggregation.js'
import type { ControllerActivity } from './embedding/until-idle.js'
import type { StartContext } from './start-context.js'

interface ControllerSources {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly certificate: ReloadableCertificate
  readonly trust: ClientTrust
  readonly extensions: Aggregation
}

export interface RunningControllers extends ControllerActivity {
  readonly simulatedBackends: SimulatedBackends | undefined
  readonly counters: ControllerCounters
  readonly isLeading: () => boolean
  /** Later calls have no effect. A fork begins with its first request. */
  readonly begin: () => void
}

export async function startControllers(
  { settings, logger, cleanup, time, testkit, parent, role }: StartContext,
  sources: ControllerSources,
): Promise<RunningControllers> {
  const { engine, catalogs, certificate, trust, extensions } = sources
  const counters = new ControllerCounters()
  const firstListMs = parent?.isIdle === true ? forkListMs : undefined
  const parts: ControllerParts = { engine, catalogs, logger, counters, timers: time.timers, pacing: systemTimers, firstListMs }
  const rootCa = { pem: () => certificate.rootPem, onChange: (listener: () => void) => certificate.onChange(listener) }
  if (settings.controllers.includes('root-ca-cert-publisher')) cleanup.add(publishRootCa(engine, catalogs, rootCa))
  const controllersByName = controllerTable({
    extensions,
    availability: apiServiceAvailability(extensions),
    rootCa,
    signing: signing(settings, certificate.authority),
    isShared: settings.storage === 'etcd' || role !== undefined,
    budgetDelayMs: settings.workloads.length > 0 ? 0 : quietBudgetDelayMs,
  })
  const workloads = await loadWorkloads(settings, parts, { createsNodes: parent === undefined, extensions })
  let published: Controller | undefined
  let started: readonly Controller[] = []
  const start = (): readonly Controller[] => {
    const partsOf = (name: string): ControllerParts =>
      testkit === undefined ? parts : { ...parts, engine: testkit.engineOf(name, engine) }
    started = [...settings.controllers.map((name) => controllersByName[name](partsOf(name))), ...workloads.start(partsOf)]
    return started
  }
  let running: ElectedControllers | undefined
  let startTimer: NodeJS.Immediate | undefined
  cleanup.add(async () => {
    clearImmediate(startTimer)
    await running?.close()
    await published?.close()
  })
  return {
    counters,
    simulatedBackends: workloads.simulatedBackends,
    isLeading: () => running?.isLeading ?? false,
    isIdle: () => running?.isIdle ?? parent?.isIdle ?? false,
    busy: () =>
      started.flatMap(({ isIdle = true, busyKeys = [] }, i) =>
        isIdle ? [] : { name: settings.controllers[i] ?? 'workloads', keys: busyKeys },
      ),
    expedite: (withinMs) => running?.expedite(withinMs),
    begin: () => {
      // The primary runs the controllers for all worker processes.
      if (running !== undefined || role?.kind === 'worker') return
      const run = (): void => {
        published = publishExtensionAuthentication(parts, {
          current: () => trust.published,
          onChange: (listener) => trust.onChange(listener),
        })
        running = runControllers(settings, parts, start)
      }
      // The controllers of a fork must see the changes of its first request.
      if (parent !== undefined) run()
      else startTimer ??= setImmediate(run)
    },
  }
}

const forkListMs = 1000

/**
 * The controller of certificate signing. Without signing flags the server's own CA signs, unless --client-ca-file is set: then the server
 * would not trust the certificates.
 */
function signing(
  { authentication: { clientCa }, signing: { pairs, seconds }, identity }: Settings,
  own: KeyPair,
): (parts: ControllerParts) => Controller {
  const names = signerNames(identity)
  const none = (): Controller => ({ close: async () => undefined })
  const signWith = (signerOfStem: (stem: 'client' | 'nodeClient' | 'nodeServing') => Signer | undefined) => {
    const signers = new Map<string, Signer>()
    for (const stem of ['client', 'nodeClient', 'nodeServing'] as const) {
      const signer = signerOfStem(stem)
      if (signer !== undefined) signers.set(names[stem], signer)
    }
    return signers.size === 0 ? none : certificateSigning({ signers, seconds })
  }
  const signerFor = (pair: KeyPair | undefined): Signer | undefined => pair && { authority: readAuthority(pair), endMs: endOf(pair) }
  if (pairs !== undefined) return signWith((stem) => signerFor(pairs[stem]))
  if (clientCa !== undefined) return none
  return (parts) => signWith(() => ownSigner(own))(parts)
}

/** Cached by CA, which forks share. */
const ownSigner = weakMemoize((own: KeyPair): Signer => ({ authority: signerOf(own), endMs: endOf(own) }))

const endOf = ({ cert }: KeyPair): number => Date.parse(new X509Certificate(cert).validTo)

type Controllers = { readonly [Name in ControllerName]: (parts: ControllerParts) => Controller }

interface ElectedControllers extends Controller {
  readonly isLeading: boolean
  readonly isIdle: boolean
  expedite(withinMs: number): void
}

type StartControllers = (partsOf: (name: string) => ControllerParts) => readonly Controller[]

interface LoadedWorkloads {
  readonly start: StartControllers
  readonly simulatedBackends: SimulatedBackends | undefined
}

/** Loads the modules of the workload controllers only if one is enabled. */
async function loadWorkloads(
  { workloads, workloadFlags: flags, simulation }: Settings,
  parts: ControllerParts,
  { createsNodes, extensions }: { readonly createsNodes: boolean; readonly extensions: Aggregation },
): Promise<LoadedWorkloads> {
  if (workloads.length === 0 && simulation === undefined) return { start: () => [], simulatedBackends: undefined }
  const { readSimulation, simulatedBackends, simulatedUsage, startWorkloads } = await import('../controllers/workloads/start-workloads.js')
  const simulated = simulation && readSimulation(simulation)
  if (simulated !== undefined) parts.engine.usage = simulatedUsage(parts, simulated.rules)
  // A fork has the nodes of its parent already.
  const forStart = simulated === undefined || createsNodes ? simulated : { ...simulated, templates: [] }
  return {
    start: (partsOf) => [startWorkloads(partsOf, workloads, { flags, simulation: forStart, extensions })],
    simulatedBackends: simulated && simulatedBackends(parts, simulated),
  }
}

function runControllers(
  { storage, identity, dataDir }: Settings,
  parts: ControllerParts,
  start: () => readonly Controller[],
): ElectedControllers {
  const store =
    storage === 'etcd' ? leaderElectionLease(parts.engine, parts.catalogs.current, identity.prefixed('apiserver-loops')) : undefined
  if (store !== undefined) return new LeaderElection({ store, holder: ensureReplicaName(dataDir), start, logger: parts.logger })
  const running = start()
  return {
    isLeading: true,
    get isIdle() {
      return running.every(({ isIdle = true }) => isIdle)
    },
    expedite: (withinMs) => {
      for (const controller of running) controller.expedite?.(withinMs)
    },
    close: async () => {
      await Promise.all(running.map((controller) => controller.close()))
    },
  }
}

function ensureReplicaName(dataDir: string | undefined): string {
  const fresh = `${hostname()}_${randomUUID()}`
  if (dataDir === undefined) return fresh
  const path = join(dataDir, 'replica.name')
  const existing = readOptionalFile(path)?.trim()
  if (existing) return existing
  writePrivateFile(path, `${fresh}\n`)
  return fresh
}

/** Delay of each step in the deletion of a CustomResourceDefinition if other processes serve requests, too. */
const crdGraceMs = 600

interface ControllerDependencies {
  readonly extensions: Extensions
  readonly availability: (parts: ControllerParts) => Controller
  readonly rootCa: Parameters<typeof rootCaConfigMaps>[0]
  readonly signing: (parts: ControllerParts) => Controller
  readonly isShared?: boolean
  /** Delay of the disruption controller after a change of a budget. */
  readonly budgetDelayMs: number
}

export function controllerTable({
  extensions,
  availability,
  rootCa,
  signing,
  isShared,
  budgetDelayMs,
}: ControllerDependencies): Controllers {
  const deleteRemote = deleteRemoteContents(extensions.services, extensions.extensionClient)
  return {
    garbagecollector: (controllerParts) => garbageCollection(controllerParts, undefined, extensions),
    namespace: (controllerParts) => namespaceDeletion(controllerParts, undefined, deleteRemote, isShared),
    serviceaccount: defaultServiceAccounts,
    'root-ca-cert-publisher': rootCaConfigMaps(rootCa),
    'flow-schema-status': flowSchemaStatus,
    'clusterrole-aggregation': clusterRoleAggregation,
    'serviceaccount-token': serviceAccountTokenSecrets(rootCa),
    csrsigning: signing,
    tokencleaner: bootstrapTokenCleaner,
    bootstrapsigner: clusterInfoSigner,
    resourcequota: quotaStatus,
    'ttl-after-finished': ttlAfterFinished,
    disruption: (controllerParts) => disruptionBudgets(controllerParts, budgetDelayMs),
    'pvc-protection': claimProtection,
    'pv-protection': volumeProtection,
    csrapproving: certificateApproval,
    csrcleaner: certificateCleaner,
    'identity-lease-garbage-collector': expiredApiServerLeases,
    'custom-resource-definitions': (controllerParts) => customResourceDefinitions(controllerParts, isShared === true ? crdGraceMs : 0),
    'apiservice-registration': customApiServices,
    // Probes of extension servers are network requests, which need real time.
    'apiservice-status-available': (controllerParts) => availability({ ...controllerParts, timers: systemTimers }),
  }
}
