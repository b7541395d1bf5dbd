import {
  type Context,
  CycleTag,
  EchoTag,
  type Emitter,
  evalToken,
  ForTag,
  Output,
  TablerowTag,
  type Template as LiquidNode,
  type Token,
  toValueSync,
  TypeGuards,
} from 'liquidjs'

/**
 * What is missing. Liquid's own strictness stops at the first variable, and at every comparison with one that is
 * missing. Here a variable is missed where it would be put out, or walked through, and nowhere else:
 * `{% if contact.plan == "pro" %}` and `{{ contact.name | default: "friend" }}` are how a template says that it can do
 * without.
 */
export const MISSING = 'missing'

/** Where variables are put out or walked through. */
const DEMANDING = [Output, EchoTag, CycleTag, ForTag, TablerowTag] as const

interface Demand {
  readonly name: string
  readonly token: Token
}

export function watchVariables(nodes: readonly LiquidNode[]): void {
  for (const node of walk(nodes)) {
    const demands = demandsOf(node)
    if (demands.length === 0) continue
    const render = node.render.bind(node) as (ctx: Context, emitter: Emitter) => unknown
    node.render = function* (ctx: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
      for (const { name, token } of demands) {
        const value: unknown = yield evalToken(token, ctx, true)
        if (value === undefined || value === null) ctx.getRegister(MISSING, new Set<string>()).add(name)
      }
      return yield render(ctx, emitter)
    } as LiquidNode['render']
  }
}

/** Every node of a template, those inside other nodes included. */
export function* walk(nodes: readonly LiquidNode[]): Generator<LiquidNode> {
  for (const node of nodes) {
    yield node
    if (node.children) yield* walk(toValueSync(node.children(false, true)))
  }
}

interface Filtered {
  readonly initial?: { readonly postfix: readonly Token[] }
  readonly filters: readonly { readonly name: string; readonly args: readonly (Token | [string, Token?])[] }[]
}

function demandsOf(node: LiquidNode): Demand[] {
  if (!DEMANDING.some((kind) => node instanceof kind) || !node.arguments) return []
  const tokens: Token[] = []
  for (const argument of node.arguments()) {
    if (!('filters' in argument)) tokens.push(argument)
    else {
      const { initial, filters } = argument as unknown as Filtered
      if (filters.some(({ name }) => name === 'default')) continue
      tokens.push(...(initial?.postfix ?? []))
      for (const argument of filters.flatMap(({ args }) => args ?? []))
        tokens.push(...(Array.isArray(argument) ? (argument[1] ? [argument[1]] : []) : [argument]))
    }
  }
  return tokens
    .flatMap((token) => (TypeGuards.isRangeToken(token) ? [token.lhs, token.rhs] : [token]))
    .filter((token) => TypeGuards.isPropertyAccessToken(token))
    .map((token) => ({ name: token.getText().trim(), token }))
}
