// Creates elements. Text enters the page as text nodes only, and attributes are set by name: no markup is parsed.

type Child = Node | string | number | undefined | false

type Listeners = { readonly [Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void }

interface Attributes {
  readonly class?: string
  readonly on?: Listeners
  readonly [name: string]: string | number | boolean | undefined | Listeners
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag)
  const { on, ...plain } = attributes
  for (const [name, value] of Object.entries(plain)) {
    if (typeof value === 'object' || value === undefined || value === false) continue
    created.setAttribute(name, value === true ? '' : shownAttributes.has(name) ? visibleText(String(value)) : String(value))
  }
  for (const [type, listener] of Object.entries(on ?? {})) created.addEventListener(type, listener as EventListener)
  append(created, ...children)
  return created
}

/** Attributes that are shown or read aloud. Others, such as `value`, stay as they are. */
const shownAttributes: ReadonlySet<string> = new Set(['title', 'aria-label', 'placeholder'])

export function append(parent: Node, ...children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === false) continue
    parent.appendChild(typeof child === 'object' ? child : document.createTextNode(visibleText(String(child))))
  }
}

export function replaceChildren(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren()
  append(parent, ...children)
}

/** Control characters, and characters that reorder or hide text. */
const hidden =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/
const hiddenAll = new RegExp(hidden.source, 'g')

/** Shows hidden characters as escapes, such as `\u202e`: they could make a text look like another one. */
export const visibleText = (text: string): string =>
  hidden.test(text) ? text.replaceAll(hiddenAll, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`) : text

export const button = (label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement =>
  element('button', { type: 'button', ...attributes, on: { click: onClick } }, label)

/** Text up to the limit, with its length if it is longer. */
export const shortened = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length.toLocaleString('en')} characters)`
