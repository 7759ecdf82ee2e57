// Reads and writes baseline.json: the cases recorded from kube-apiserver that this server must keep matching.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../kit/paths.js'

const path = join(repoRoot, 'test', 'vectors', 'baseline.json')

/** Names of matching cases by table file, such as audit.json. */
type Baseline = { readonly [file: string]: readonly string[] }

export const readBaseline = (): Baseline => (existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Baseline) : {})

export const writeBaseline = (baseline: Baseline): void => writeFileSync(path, `${JSON.stringify(baseline, undefined, 2)}\n`)

/** Folder of the tables recorded from kube-apiserver: VECTORS_ROOT, or ../shared/vectors; undefined if it does not exist. */
export function findVectors(): string | undefined {
  const root = process.env['VECTORS_ROOT'] ?? join(repoRoot, '..', 'shared', 'vectors')
  return existsSync(root) ? root : undefined
}
