// Lists the files of a folder and its subfolders whose names match, in order. Links are followed, but no folder is read twice.

import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'

export const manifestFiles = /\.(?:ya?ml|json)$/

export function listFiles(folder: string, names: RegExp): readonly string[] {
  const files: string[] = []
  const pending = [folder]
  const seen = new Set<string>()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const real = realpathSync(next)
    if (seen.has(real)) continue
    seen.add(real)
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name)
      const isMatch = names.test(entry.name)
      if (entry.isDirectory()) pending.push(path)
      else if (entry.isFile() && isMatch) files.push(path)
      else if (entry.isSymbolicLink()) addTarget(path, isMatch)
    }
  }
  return sortTexts(files)

  function addTarget(link: string, isMatch: boolean): void {
    const target = statSync(link, { throwIfNoEntry: false })
    if (target?.isDirectory()) pending.push(link)
    // A link of that name to nothing is an error: reading it says so.
    else if (isMatch && (target === undefined || target.isFile())) files.push(link)
  }
}
