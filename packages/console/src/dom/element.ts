// Creates elements. Text enters the page as text nodes only, and attributes are set by name: no markup is parsed.

import { visibleText } from '../ui/visible-text.js'

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

export const button = (label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement =>
  element('button', { type: 'button', ...attributes, on: { click: onClick } }, label)
