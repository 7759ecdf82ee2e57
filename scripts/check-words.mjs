// Fails on coined words for which the field has a term: `node scripts/check-words.mjs`, a part of `npm run check`.
// Reads sources, scripts and documents. Tests and examples are left out: they use such words as names of objects and users.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Each word, with what to write instead, and a term that makes the word legitimate in a file. Identifiers are checked, too: `inPieces`. */
const coinages = [
  [/\bwhoever\b|\bwhomever\b|\bsomebody\b/i, 'the client, the caller, another writer'],
  [/tall(?:y|ies|ied)(?![a-z])/i, 'counters, metrics'],
  [/\btold\b|\b[a-z]+Told\b/, 'notified, logged, returned'],
  [/\bpieces?\b|Pieces?(?![a-z])/, 'chunk, batch'],
  [/\bmend(?:ed|s)?\b|\bput right\b/i, 'fixed, repaired, reconciled'],
  [/\blean(?:er|ly)?\b/i, 'without labels, annotations and managedFields: say which'],
  [/\bwish(?:es|ed)?\b|[a-z]Wish(?![a-z])/i, 'request, options'],
  [/\bheavy\b/i, 'large'],
  [/\bstory\b|\bstories\b/i, 'scenario'],
  [/\blet go\b|\bthe way down\b/i, 'released, terminating, graceful shutdown'],
  [/\bby the way\b|\broad of bytes\b|\bmade-up\b/i, 'implicitly, read path, fake'],
  [/\b(?:run|start|stop|name|control)Loops?\b|\bLoopParts\b/, 'controller'],
  [/\bhook(?:Call|Client|Reply|Server|Ways)\b|\b(?:open|call|ask)Hooks?\b/, 'webhook'],
  [/\bbeliev(?:e|ed|es)\b/i, 'authenticated, trusted'],
  [/(?<!user[-_ ]?|http\.)agents?(?![a-z])/i, 'kubelet', /'node:https?'|warn-agent/],
]

const isChecked = (path) =>
  /\.(?:tsx?|mjs|cjs|js|md)$|^bin\//.test(path) &&
  !/\.(?:test|contract|fixture)\.ts$|^test\/|\/test\/|^examples\/|^CHANGELOG\.md$|^scripts\/check-words\.mjs$/.test(path)

const paths = execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 64 << 20 })
  .trim()
  .split('\n')
  .filter(isChecked)
const problems = paths.flatMap((path) => {
  const text = readFileSync(path, 'utf8')
  const words = coinages.filter(([, , term]) => !term?.test(text))
  return text
    .split('\n')
    .flatMap((line, i) =>
      words.flatMap(([word, instead]) => (word.test(line) ? [`${path}:${i + 1}: "${word.exec(line)?.[0]}"; write ${instead}`] : [])),
    )
})
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
