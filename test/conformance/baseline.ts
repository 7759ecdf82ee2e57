// Baseline: the recorded exchanges (request and response of kube-apiserver) that this server matches, so that a regression is noticed.
//
// The file lists ids by `profile/file`: once for those that match under both identities, and separately for those that match under one.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../kit/paths.js'
import type { IdentityName } from './replay.js'

const path = join(repoRoot, 'test', 'conformance', 'baseline.json')

type Listing = { readonly [file: string]: string }
type BaselineFile = { readonly [key in 'both' | IdentityName]: Listing }

type Matches = { readonly [identity in IdentityName]: ReadonlySet<string> }

export function readBaseline(): Matches {
  const file = JSON.parse(readFileSync(path, 'utf8')) as BaselineFile
  const both = keysOf(file.both)
  return { cluster: new Set([...both, ...keysOf(file.cluster)]), kubernetes: new Set([...both, ...keysOf(file.kubernetes)]) }
}

export function writeBaseline({ cluster, kubernetes }: Matches): void {
  const file: BaselineFile = {
    both: listingOf([...cluster].filter((key) => kubernetes.has(key))),
    cluster: listingOf([...cluster].filter((key) => !kubernetes.has(key))),
    kubernetes: listingOf([...kubernetes].filter((key) => !cluster.has(key))),
  }
  writeFileSync(path, `${JSON.stringify(file, undefined, 2)}\n`)
}

const keysOf = (listing: Listing): readonly string[] =>
  Object.entries(listing).flatMap(([file, ids]) => ids.split(' ').map((id) => `${file}/${id}`))

function listingOf(keys: readonly string[]): Listing {
  const byFile = new Map<string, string[]>()
  for (const key of [...keys].sort()) {
    const cut = key.lastIndexOf('/')
    const ids = byFile.get(key.slice(0, cut)) ?? []
    byFile.set(key.slice(0, cut), [...ids, key.slice(cut + 1)])
  }
  return Object.fromEntries([...byFile].map(([file, ids]) => [file, ids.join(' ')]))
}
