import { connect, createTranslator, toolError } from '@neurosquad/card-sdk';

const card = await connect();
const t = createTranslator({ en: { titles_one: '{{count}} title', titles_other: '{{count}} titles' } }, card);

// One call after the other: each reads the list that the one before has written.
let last = Promise.resolve();
const inTurn = (work) => (last = last.then(work, work));

card.tools.handle('add', ({ title, note }, call) => inTurn(async () => {
  const list = await card.storage.get('list', []);
  const most = card.settings.value('most');
  if (list.length >= most) return toolError(`the list is full: it has ${t('titles', { count: most })}`);
  list.unshift({ title, ...(note ? { note } : {}), by: call.agent.name });
  await card.storage.set('list', list);
  await card.setBadge(list.length);
  return t('titles', { count: list.length });
}));

card.tools.handle('list', async () => (await card.storage.get('list', [])).map(({ title, note }) => ({ title, note })));
