DROP INDEX "postrider"."scheduled_actions_contact";
DROP INDEX "postrider"."scheduled_actions_message";
ALTER TABLE "postrider"."scheduled_actions" ALTER COLUMN "dedupe_key" SET DATA TYPE text COLLATE "C";
CREATE INDEX "scheduled_actions_message" ON "postrider"."scheduled_actions" USING btree ("message_id") WHERE message_id is not null and contact_id is null;