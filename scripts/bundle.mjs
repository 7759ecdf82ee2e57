// Joins the compiled modules into a few files, because reading hundreds of small ones is most of what a start would cost.
// What is imported on demand stays in files of its own.

import { rmSync } from 'node:fs'
import { build } from 'esbuild'

const outdir = 'dist/bundle'
rmSync(outdir, { recursive: true, force: true })
await build({
  entryPoints: ['dist/server/main.js', 'dist/server/index.js'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
})
