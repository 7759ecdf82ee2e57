// Starts the loops that keep the server true to its own objects: they begin when it is ready, and catch up behind that.

import { X509Certificate } from 'node:crypto'
import type { CatalogSource } from '../api/catalog-source.js'
import { apiServiceAvailability } from '../controllers/aggregation/availability.js'
import { certificateSigning, type Signer } from '../controllers/certificate-signing.js'
import { readAuthority } from '../controllers/certificates/read-authority.js'
import { LoopCounters } from '../controllers/kit/counters.js'
import type { LoopParts } from '../controllers/kit/loop.js'
import type { Loop } from '../controllers/leader-election.js'
import { publishRootCa } from '../controllers/root-ca.js'
import { signerNames } from '../controllers/signer-rules.js'
import { keepTrust } from '../controllers/trust-keeper.js'
import type { KeyPair } from '../net/issue-certificate.js'
import type { Engine } from '../verbs/engine.js'
import { signerOf } from './certificates.js'
import type { ClientTrust } from './client-trust.js'
import { nameLoops } from './name-loops.js'
import type { OpenExtensions } from './open-extensions.js'
import type { Opening } from './opening.js'
import type { Settings } from './options/settings.js'
import { type ElectedLoops, runLoops } from './run-loops.js'
import type { ChangingCertificate } from './serving-certificate.js'

export interface LoopSources {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly certificate: ChangingCertificate
  readonly trust: ClientTrust
  readonly extensions: OpenExtensions
}

export interface RunningLoops {
  readonly counters: LoopCounters
  /** Whether they run in this server. */
  readonly isLeading: () => boolean
  /** Whether those that run here have nothing to do now. */
  readonly isIdle: () => boolean
  /** What those would do within so long, they do now. */
  readonly hurry: (withinMs: number) => void
  /** To be called when requests are answered, which they shall not delay. */
  readonly begin: () => void
}

export function startLoops({ settings, logger, closing }: Opening, sources: LoopSources): RunningLoops {
  const { engine, catalogs, certificate, trust, extensions } = sources
  const counters = new LoopCounters()
  const parts: LoopParts = { engine, catalogs, logger, counters }
  const published = keepTrust(parts, { current: () => trust.published, onChange: (listener) => trust.onChange(listener) })
  closing.add(() => published.close())
  const rootCa = { pem: () => certificate.rootPem, onChange: (listener: () => void) => certificate.onChange(listener) }
  if (settings.controllers.includes('root-ca-cert-publisher')) closing.add(publishRootCa(engine, catalogs, rootCa))
  const loopsByName = nameLoops({
    extensions,
    availability: apiServiceAvailability(extensions),
    rootCa,
    signing: signing(settings, certificate.authority),
    isShared: settings.storage === 'etcd',
  })
  let loops: ElectedLoops | undefined
  let beginning: NodeJS.Immediate | undefined
  closing.add(async () => {
    clearImmediate(beginning)
    await loops?.close()
  })
  return {
    counters,
    isLeading: () => loops?.isLeading ?? false,
    isIdle: () => loops?.isIdle ?? false,
    hurry: (withinMs) => loops?.hurry(withinMs),
    begin: () => {
      beginning = setImmediate(() => {
        loops = runLoops(settings, parts, loopsByName)
      })
    },
  }
}

/** Certificates of the own authority are believed only where the operator named no other. */
function signing(
  { authentication: { clientCa }, signing: { pairs, seconds }, identity }: Settings,
  own: KeyPair,
): (parts: LoopParts) => Loop {
  const names = signerNames(identity)
  const ownSigner: Signer | undefined = clientCa === undefined ? { authority: signerOf(own), endMs: endOf(own) } : undefined
  const signerFor = (pair: KeyPair | undefined): Signer | undefined => pair && { authority: readAuthority(pair), endMs: endOf(pair) }
  const signers = new Map<string, Signer>()
  for (const stem of ['client', 'nodeClient', 'nodeServing'] as const) {
    const signer = pairs === undefined ? ownSigner : signerFor(pairs[stem])
    if (signer !== undefined) signers.set(names[stem], signer)
  }
  return signers.size === 0 ? () => ({ close: async () => undefined }) : certificateSigning({ signers, seconds })
}

const endOf = ({ cert }: KeyPair): number => Date.parse(new X509Certificate(cert).validTo)
