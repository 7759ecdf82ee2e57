// Rewrites the links of an HTML page as it passes by, whatever the pieces in which it comes: only the values of attributes that are links
// change, and of a page no more is held than one tag.

import { Transform, type TransformCallback } from 'node:stream'
import { nowOrInPieces, Pieces } from '../base/pieces.js'

/** Which attributes of which elements are links. */
const linkAttributes: { readonly [element: string]: readonly string[] } = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
}

/** Whose content is text, whatever it looks like, up to their end. */
const rawElements = new Set(['iframe', 'noembed', 'noframes', 'plaintext', 'script', 'style', 'textarea', 'title', 'xmp'])

/** A tag that is longer is passed on as it is. */
const mostTagBytes = 64 << 10

const stepBytes = 8 << 10

type State = 'text' | 'markup' | 'tag' | 'other' | 'comment' | 'raw'

export class HtmlLinks extends Transform {
  readonly #rewrite: (link: string) => string
  #state: State = 'text'
  /** What was held back: the beginning of something. */
  #held = ''
  #quote = ''
  /** Whether a value begins where a quote would stand. */
  #isValueNext = false
  #rawEnd = ''

  constructor(rewrite: (link: string) => string) {
    super()
    this.#rewrite = rewrite
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    const passed = nowOrInPieces(this.#pass(chunk), new Pieces())
    if (passed instanceof Promise) passed.then(() => done(), done)
    else done()
  }

  /** A page may be nothing but links: some kilobytes of them are a step. */
  *#pass(chunk: Buffer): Generator<undefined, void, void> {
    for (let start = 0; start < chunk.length; start += stepBytes) {
      // One character for each byte: what is not understood stays what it was.
      const out = this.#rewritten(chunk.toString('latin1', start, Math.min(start + stepBytes, chunk.length)))
      if (out !== '') this.push(Buffer.from(out, 'latin1'))
      yield undefined
    }
  }

  #rewritten(text: string): string {
    let out = ''
    let at = 0
    while (at < text.length) {
      const step = this.#step(text, at)
      out += step.out
      at = step.at
    }
    return out
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#held === '' ? undefined : Buffer.from(this.#held, 'latin1'))
  }

  #step(text: string, at: number): { readonly out: string; readonly at: number } {
    switch (this.#state) {
      case 'text':
        return this.#passText(text, at)
      case 'markup':
        return this.#readMarkup(text, at)
      case 'tag':
        return this.#readTag(text, at)
      case 'other':
        return this.#passUntil(text, at, '>')
      case 'comment':
        return this.#passUntil(text, at, '-->')
      case 'raw':
        return this.#passUntil(text, at, this.#rawEnd)
    }
  }

  #passText(text: string, at: number) {
    const open = text.indexOf('<', at)
    if (open < 0) return { out: text.slice(at), at: text.length }
    this.#state = 'markup'
    this.#held = '<'
    return { out: text.slice(at, open), at: open + 1 }
  }

  /** Behind a `<`: what it opens is known after a few characters. */
  #readMarkup(text: string, at: number) {
    const letter = text[at] as string
    const opened = this.#held + letter
    this.#held = opened
    if (opened === '<!' || opened === '<!-') return { out: '', at: at + 1 }
    if (isLetter(opened[1])) {
      this.#state = 'tag'
      this.#quote = ''
      this.#isValueNext = false
      return { out: '', at: at + 1 }
    }
    if (opened === '<!--') {
      // The two may already be those of the end.
      this.#state = 'comment'
      this.#held = '--'
      return { out: '<!', at: at + 1 }
    }
    // A `<` that opens nothing may stand in front of one that does.
    if (opened === '<<') {
      this.#held = '<'
      return { out: '<', at: at + 1 }
    }
    const isOpen = letter !== '>' && (opened[1] === '!' || opened[1] === '/' || opened[1] === '?')
    return this.#release(isOpen ? 'other' : 'text', at + 1)
  }

  #release(state: State, at: number) {
    const out = this.#held
    this.#held = ''
    this.#state = state
    return { out, at }
  }

  /** Quotes count where a value begins; everywhere else they are letters. */
  #readTag(text: string, from: number) {
    for (let at = from; at < text.length; at++) {
      const letter = text[at] as string
      if (this.#quote !== '') {
        if (letter === this.#quote) this.#quote = ''
      } else if (letter === '>') {
        const tag = this.#held + text.slice(from, at + 1)
        this.#held = ''
        return { out: this.#finishTag(tag), at: at + 1 }
      } else if (letter === '=') this.#isValueNext = true
      else if (this.#isValueNext && (letter === '"' || letter === "'")) {
        this.#quote = letter
        this.#isValueNext = false
      } else if (!isSpace(letter)) this.#isValueNext = false
    }
    this.#held += text.slice(from)
    if (this.#held.length <= mostTagBytes) return { out: '', at: text.length }
    return this.#release('other', text.length)
  }

  #finishTag(tag: string): string {
    const name = nameOf(tag)
    this.#state = 'text'
    if (rawElements.has(name)) {
      this.#state = 'raw'
      this.#rawEnd = `</${name}`
    }
    const links = Object.hasOwn(linkAttributes, name) ? linkAttributes[name] : undefined
    return links === undefined ? tag : rewriteTag(tag, name.length + 1, links, this.#rewrite)
  }

  /** Passes everything on up to what ends it, which may come in pieces. */
  #passUntil(text: string, at: number, end: string) {
    const held = this.#held
    // It may have begun in what was held back. Only then is a new text made: there may be thousands of ends in one piece.
    const begun = held === '' ? -1 : findEnd(held + text.slice(at, at + end.length - 1), 0, end)
    const found = begun < 0 ? findEnd(text, at, end) : at + begun - held.length
    if (found < 0 && begun < 0) {
      const joined = held + text.slice(at)
      const kept = Math.min(end.length - 1, joined.length)
      this.#held = joined.slice(joined.length - kept)
      return { out: joined.slice(0, joined.length - kept), at: text.length }
    }
    const behind = found + end.length
    this.#held = ''
    // The rest of an end tag is a tag without links.
    this.#state = this.#state === 'raw' ? 'other' : 'text'
    return { out: held + text.slice(at, behind), at: behind }
  }
}

/** Names of elements are written in letters of any size. */
function findEnd(text: string, from: number, end: string): number {
  if (!end.startsWith('</')) return text.indexOf(end, from)
  for (let at = text.indexOf('</', from); at >= 0; at = text.indexOf('</', at + 2))
    if (text.slice(at, at + end.length).toLowerCase() === end) return at
  return -1
}

const isLetter = (letter: string | undefined): boolean => letter !== undefined && /^[A-Za-z]$/.test(letter)
const isSpace = (letter: string | undefined): boolean =>
  letter === ' ' || letter === '\n' || letter === '\t' || letter === '\r' || letter === '\f'

function nameOf(tag: string): string {
  let end = 1
  while (end < tag.length && !isSpace(tag[end]) && tag[end] !== '/' && tag[end] !== '>') end++
  return tag.slice(1, end).toLowerCase()
}

function rewriteTag(tag: string, from: number, links: readonly string[], rewrite: (link: string) => string): string {
  let out = tag.slice(0, from)
  let at = from
  const last = tag.length - 1
  while (at < last) {
    const begin = at
    while (at < last && (isSpace(tag[at]) || tag[at] === '/')) at++
    const keyAt = at
    while (at < last && !isSpace(tag[at]) && tag[at] !== '=' && tag[at] !== '/') at++
    const key = tag.slice(keyAt, at).toLowerCase()
    let next = at
    while (next < last && isSpace(tag[next])) next++
    if (tag[next] !== '=') {
      out += tag.slice(begin, at)
      continue
    }
    next++
    while (next < last && isSpace(tag[next])) next++
    const value = valueAt(tag, next, last)
    out += tag.slice(begin, next)
    out += links.includes(key) ? rewriteValue(value, rewrite) : value.raw
    at = value.end
  }
  return out + tag.slice(at)
}

interface Value {
  readonly raw: string
  readonly text: string
  readonly end: number
}

function valueAt(tag: string, from: number, last: number): Value {
  const quote = tag[from]
  if (quote === '"' || quote === "'") {
    const close = tag.indexOf(quote, from + 1)
    const end = close < 0 || close > last ? last : close + 1
    return { raw: tag.slice(from, end), text: tag.slice(from + 1, close < 0 || close > last ? last : close), end }
  }
  let end = from
  while (end < last && !isSpace(tag[end])) end++
  return { raw: tag.slice(from, end), text: tag.slice(from, end), end }
}

function rewriteValue({ raw, text }: Value, rewrite: (link: string) => string): string {
  const link = text
    .replace(/&(?:amp|#38|#x26);/gi, '&')
    .replace(/&(?:quot|#34|#x22);/gi, '"')
    .replace(/&(?:#39|#x27);/gi, "'")
  const rewritten = rewrite(link)
  return rewritten === link ? raw : `"${rewritten.replaceAll('&', '&amp;').replaceAll('"', '&#34;')}"`
}
